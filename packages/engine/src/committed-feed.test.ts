import { MemoryLog, MemoryLogStore, MemorySnapshots } from '@sluice/log';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CommittedFeed, type FeedSource } from './committed-feed.ts';
import { TestEngine, type TestEngineOptions } from './testing/test-engine.ts';
import { TestProjection } from './testing/test-projection.ts';
import { settle, watch } from './testing/watched-answer.ts';

test('committed batches come in order, from the position that was asked for', async () => {
  const before = await TestEngine.start();
  for (const input of ['1', '2', '3']) await before.submit(input);
  const { store } = before;

  const test = await TestEngine.start({ store, feed: { from: 1 } });
  await test.submit('4');

  const firstRecords = [await next(test), await next(test), await next(test)];
  expect(firstRecords).toEqual([1, 2, 3]);
});

test('a batch is not seen before it is durable (feed.only-durable)', async () => {
  const test = await TestEngine.start({ feed: { from: 0 } });
  test.faults.hold({ landed: true });
  void test.submit('1');
  await test.faults.whenHeld();

  const seen = watch(feedOf(test).next());
  await settle();
  expect(seen.status).toBe('waiting');

  test.faults.letGo();
  await settle();
  expect(seen).toMatchObject({ status: 'answered', value: { firstRecord: 0 } });
});

test('what only the log knows of is not read again (feed.only-durable)', async () => {
  const test = await TestEngine.start({ feed: { from: 0, bufferBytesMax: 1 } });
  for (const input of ['1', '2']) await test.submit(input);
  test.faults.hold({ landed: true });
  void test.submit('3');
  await test.faults.whenHeld();

  expect([await next(test), await next(test)]).toEqual([0, 1]);
  const third = watch(feedOf(test).next());
  await settle();
  expect(third.status).toBe('waiting');
});

test('a consumer far behind holds no memory and misses nothing (feed.bounded-memory)', async () => {
  const bufferBytesMax = 500;
  const test = await TestEngine.start({ feed: { from: 0, bufferBytesMax } });
  const projection = new TestProjection();
  for (let i = 0; i < 60; i++) await test.submit('x'.repeat(i));
  expect(feedOf(test).bufferedBytes).toBeLessThanOrEqual(bufferBytesMax);

  let most = 0;
  for (let i = 0; i < 60; i++) {
    await projection.takeOne(feedOf(test));
    if (i % 3 === 0) await test.submit('y');
    most = Math.max(most, feedOf(test).bufferedBytes);
  }
  await projection.takeUpTo(feedOf(test), 80);

  expect(projection.all).toHaveLength(80);
  expect(most).toBeLessThan(3 * bufferBytesMax);
});

test('what is read again stays as it was when the log uses its memory again', async () => {
  const memory = Buffer.alloc(1);
  const read: FeedSource['log']['read'] = async (_from, onBatch) => {
    for (const firstRecord of [0, 1, 2]) {
      memory[0] = firstRecord;
      onBatch({ firstRecord, recordCount: 1, epoch: 1, bytes: memory });
    }
  };
  const feed = new CommittedFeed({ log: { read }, from: 0, tail: 3, onAcknowledged: () => {} });

  const batches = [await feed.next(), await feed.next(), await feed.next()];

  expect(batches.map((batch) => batch?.bytes[0])).toEqual([0, 1, 2]);
});

test('a consumer that keeps up never makes the log be read', async () => {
  const test = await TestEngine.start({ feed: { from: 0 } });
  const projection = new TestProjection();
  test.faults.read = () => Promise.reject(new Error('the log was read'));

  for (let i = 0; i < 20; i++) {
    await test.submit(String(i));
    await projection.takeOne(feedOf(test));
  }

  expect(projection.all).toHaveLength(20);
});

test('whatever the pace of both, every batch comes once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.record({ submit: fc.nat(90) }), fc.record({ take: fc.nat(8) }))),
      fc.nat(400),
      async (steps, bufferBytesMax) => {
        const test = await TestEngine.start({ feed: { from: 0, bufferBytesMax } });
        const projection = new TestProjection();
        let submitted = 0;
        let taken = 0;
        for (const step of steps) {
          if ('submit' in step) {
            await test.submit('z'.repeat(step.submit));
            submitted += 1;
          } else {
            taken = Math.min(submitted, taken + step.take);
            await projection.takeUpTo(feedOf(test), taken);
          }
        }
        await projection.takeUpTo(feedOf(test), submitted);

        expect(projection.firstRecords).toEqual(Array.from({ length: submitted }, (_, i) => i));
      },
    ),
    { numRuns: 60 },
  );
});

test('a consumer that crashed goes on from its watermark and ends with the same rows', async () => {
  const first = await workedEngine({ from: 0 });
  const projection = new TestProjection();
  await projection.takeUpTo(feedOf(first), 2);
  projection.save(feedOf(first));
  await projection.takeOne(feedOf(first));
  await first.submit('"later"');

  const { store, now } = first;
  const crashed = new TestProjection(projection.saved);
  const { position } = projection.saved.watermark;
  const second = await TestEngine.start({ store, now, feed: { from: position } });
  const tail = first.log.appends.reduce((sum, batch) => sum + batch.recordCount, 0);
  await crashed.takeUpTo(feedOf(second), tail);

  const whole = new TestProjection();
  const other = await TestEngine.start({ store, now, feed: { from: 0 } });
  await whole.takeUpTo(feedOf(other), tail);
  expect(crashed.firstRecords[0]).toBe(2);
  expect(crashed.all).toEqual(whole.all);
  expect(whole.all.filter((row) => row.endsWith('succeeded'))).toHaveLength(2);
});

test('the log is never trimmed past the watermark (feed.safe-watermark)', async () => {
  const snapshots = new MemorySnapshots();
  const test = await TestEngine.start({ snapshots, feed: { from: 0 } });
  const projection = new TestProjection();
  const submitAndFold = async () => {
    await test.submit('1');
    await test.folds.run();
    await settle();
  };
  for (let i = 0; i < 4; i++) await submitAndFold();
  expect(firstOf(test)).toBe(0);

  await projection.takeUpTo(feedOf(test), 2);
  projection.save(feedOf(test));
  await submitAndFold();
  expect(firstOf(test)).toBe(2);

  await projection.takeUpTo(feedOf(test), 5);
  projection.save(feedOf(test));
  await submitAndFold();
  expect(firstOf(test)).toBe(5);
});

test('for a consumer that has ended the log is kept, and memory is not', async () => {
  const snapshots = new MemorySnapshots();
  const test = await workedEngine({ from: 0 }, { snapshots, finishedTasksMax: 0 });
  const submitAndFold = async () => {
    await test.submit('1');
    await test.folds.run();
    await settle();
  };
  await submitAndFold();
  expect(await test.count()).toBe(4);

  feedOf(test).consumerEnded();
  for (let i = 0; i < 2; i++) await submitAndFold();
  expect(await test.count()).toBe(4);
  expect(feedOf(test).bufferedBytes).toBe(0);
  expect(firstOf(test)).toBe(0);

  feedOf(test).letGo();
  await submitAndFold();
  expect(firstOf(test)).toBe(6);
});

test('finished tasks stay in memory until the consumer has them', async () => {
  const test = await workedEngine({ from: 0 }, { finishedTasksMax: 0 });
  const projection = new TestProjection();
  expect(await test.count()).toBe(3);

  // The last record that it has is the end of the first task: another task may have ended at the
  // same time.
  await projection.takeUpTo(feedOf(test), 2);
  projection.save(feedOf(test));
  await test.submit('"another"');
  expect(await test.count()).toBe(4);

  await projection.takeUpTo(feedOf(test), 3);
  projection.save(feedOf(test));
  await test.submit('"and one more"');
  expect(await test.count()).toBe(4);

  // The consumer has everything.
  await projection.takeUpTo(feedOf(test), 5);
  test.now += 1;
  projection.save(feedOf(test));
  await test.submit('"the last"');
  expect(await test.count()).toBe(4);
});

test('without a consumer finished tasks leave as soon as there are too many', async () => {
  const test = await workedEngine(undefined, { finishedTasksMax: 0 });

  await test.submit('"another"');

  expect(await test.count()).toBe(2);
});

test('an acknowledgement of what was never handed out is refused', async () => {
  const test = await TestEngine.start({ feed: { from: 0 } });
  await test.submit('1');
  const feed = feedOf(test);

  expect(() => feed.acknowledge({ position: 1, at: 1 })).toThrow(RangeError);
  await feed.next();
  feed.acknowledge({ position: 1, at: 1 });
  feed.acknowledge({ position: 0, at: 0 });
  expect(feed.watermark).toBe(1);
});

test.each([
  [1, /continues at record 1, but the log has records 2 to 3/],
  [4, /continues at record 4, but the log has records 2 to 3/],
])('a consumer at record %d, where the log is not, is refused', async (from, message) => {
  const snapshots = new MemorySnapshots();
  const before = await TestEngine.start({ snapshots });
  for (const input of ['1', '2', '3']) {
    await before.submit(input);
    await before.folds.run();
    await settle();
  }
  const { store } = before;

  await expect(TestEngine.start({ store, snapshots, feed: { from } })).rejects.toThrow(message);
});

test('the feed ends with its engine', async () => {
  const [closed, stopped] = [
    await TestEngine.start({ feed: { from: 0 } }),
    await TestEngine.start({ feed: { from: 0 } }),
  ];
  const waiting = [closed, stopped].map((test) => watch(feedOf(test).next()));
  stopped.log.failures.push(new Error('the disk is gone'));

  await closed.engine.close();
  await stopped.submit('1').catch(() => undefined);
  await settle();

  expect(waiting).toMatchObject([
    { status: 'answered', value: undefined },
    { status: 'answered', value: undefined },
  ]);
});

test('a read that fails comes out where the next batch was asked for', async () => {
  const log = new MemoryLog(new MemoryLogStore());
  log.read = () => Promise.reject(new Error('a committed batch is damaged'));
  const feed = new CommittedFeed({ log, from: 0, tail: 5, onAcknowledged: () => undefined });

  await expect(feed.next()).rejects.toThrow('damaged');
});

/** Three tasks in one record; two of them succeeded in separate records. */
async function workedEngine(
  feed: TestEngineOptions['feed'],
  options: TestEngineOptions = {},
): Promise<TestEngine> {
  const test = await TestEngine.start({ ...options, ...(feed === undefined ? {} : { feed }) });
  await test.attach('s', 3);
  await test.submit('1', '2', '3');
  for (const lease of (await test.leasesOf('s')).slice(0, 2)) {
    test.now += 10;
    await test.report('s', { lease, kind: 'succeeded' });
  }
  return test;
}

function feedOf({ engine }: TestEngine): CommittedFeed {
  if (engine.feed === undefined) throw new Error('the engine has no feed');
  return engine.feed;
}

async function next(test: TestEngine): Promise<number | undefined> {
  return (await feedOf(test).next())?.firstRecord;
}

function firstOf({ store }: TestEngine): number {
  return store.first;
}
