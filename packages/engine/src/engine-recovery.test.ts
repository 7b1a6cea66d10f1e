import { expect, test } from 'vitest';
import { TestEngine } from './testing/test-engine.ts';
import { settle, watch } from './testing/watched-answer.ts';

test('an engine on an empty log has no tasks', async () => {
  const test = await TestEngine.start();

  expect(await test.tasks()).toEqual([]);
});

test('an engine that starts on the log of another gives the same answers', async () => {
  const before = await workedEngine();
  const tasks = await before.tasks();

  const after = await TestEngine.start({ store: before.store, now: before.now });

  expect(tasks).toHaveLength(6);
  expect(await after.tasks()).toEqual(tasks);
  expect(await after.leasesOf('s')).toEqual(await before.leasesOf('s'));
});

test('starting on a log lets nothing out and writes nothing', async () => {
  const before = await workedEngine();

  const after = await TestEngine.start({ store: before.store, now: before.now });
  await settle();

  expect(after.outputs.all).toEqual([]);
  expect(after.log.appends).toEqual([]);
});

test('a worker goes on after a restart where it was, and nothing runs twice', async () => {
  const before = await workedEngine();
  const leases = await before.leasesOf('s');
  const after = await TestEngine.start({ store: before.store, now: before.now });

  const attached = await after.attach('s', 2, leases);
  const reported = await after.report('s', { lease: leases[0], kind: 'succeeded' });

  expect(attached).toMatchObject({ session: 's', resumed: true, lost: [] });
  expect(reported).toEqual({ found: true, outcomes: ['ok'] });
  expect(after.outputs.released[0]).toBe('welcome s');
});

test('an engine that knows the extent of its log acquires it after recovery', async () => {
  const before = await workedEngine();
  const calls: string[] = [];
  const prepare = ({ faults }: TestEngine): void => {
    const { acquire, read } = faults;
    faults.acquire = async () => {
      calls.push('acquire');
      // The earlier holder goes on until it is fenced.
      await before.submit('7');
      return acquire.call(faults);
    };
    faults.read = (from, onBatch) => {
      calls.push('read');
      return read.call(faults, from, onBatch);
    };
  };
  const extent = { first: 0, tail: before.engine.position };

  const after = await TestEngine.start({ store: before.store, now: before.now, prepare, extent });

  expect(calls).toEqual(['read', 'acquire', 'read']);
  expect(await after.tasks()).toEqual(await before.tasks());
  expect(await after.tasks()).toHaveLength(7);
});

test('the engine that starts goes on behind the tail that it found', async () => {
  const before = await workedEngine();
  const { appends } = before.log;
  const records = appends.reduce((sum, batch) => sum + batch.recordCount, 0);
  const after = await TestEngine.start({ store: before.store, now: before.now });

  const answer = await after.submit('7');

  expect(answer).toBe('submitted 7');
  expect(after.log.appends[0]).toMatchObject({ expectedTail: records, epoch: 2 });
});

test('the engine that lost the log to another one is fenced at its next append', async () => {
  const before = await workedEngine();
  const after = await TestEngine.start({ store: before.store, now: before.now });

  const late = watch(before.submit('late'));
  await settle();

  expect(late.status).toBe('refused');
  expect(before.stops).toHaveLength(1);
  expect(await after.count()).toBe(6);
});

test('what never became durable is gone after a restart', async () => {
  const before = await TestEngine.start();
  await before.submit('kept');
  before.faults.hold();
  const lost = watch(before.submit('lost'));
  await before.faults.whenHeld();

  const after = await TestEngine.start({ store: before.store, now: before.now });

  expect(lost.status).toBe('waiting');
  expect(await after.tasks()).toMatchObject([{ number: 1, input: 'kept' }]);
});

test('sessions have the grace period to come back after a restart (L7)', async () => {
  const before = await workedEngine();
  const now = before.now + 1_000_000;
  const after = await TestEngine.start({ store: before.store, now, graceMsMin: 60_000 });
  const expire = () => after.engine.execute({ type: 'expire_sessions' }, () => undefined);

  after.now = now + 59_999;
  await expire();
  const early = [...after.outputs.all];
  after.now = now + 60_000;
  await expire();

  expect(early).toEqual([]);
  expect(after.outputs.released).toEqual(['closed s']);
});

/** Six tasks: some ended, two leased to `s`, some waiting. */
async function workedEngine(): Promise<TestEngine> {
  const test = await TestEngine.start();
  await test.attach('s', 2);
  await Promise.all(['"a"', '', '"ünï"', '4', '5', '6'].map((input) => test.submit(input)));
  test.now += 10;
  const [first, second] = await test.leasesOf('s');
  await test.report('s', { lease: first, kind: 'started' }, { lease: second, kind: 'failed' });
  test.now += 10;
  await test.report('s', { lease: first, kind: 'succeeded' });
  return test;
}

test('the newest time of the log is told before anything is decided (L8)', async () => {
  const before = await workedEngine();
  const told: number[] = [];

  const after = await TestEngine.start({
    store: before.store,
    now: before.now - 60_000,
    onRecovered: (latest) => told.push(latest),
  });

  expect(told).toEqual([before.now]);
  expect(await after.tasks()).toHaveLength(6);
});
