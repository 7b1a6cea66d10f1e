import { LIMITS } from '@sluice/protocol/limits';
import { describe, expect, test } from 'vitest';
import { SluiceError, TaskFailed } from '../calls/sluice-error.ts';
import { defineTask } from '../task/define-task.ts';
import { Later, PermanentFailure, RetryAfter } from '../task/failures.ts';
import { TestSluice } from './test-sluice.ts';

const DAY_MS = 86_400_000;

const echo = defineTask({ type: 'echo', run: (input: string) => `${input}!` });

/** Runs until it is aborted. */
const endless = defineTask({
  type: 'endless',
  run: (_: unknown, { signal }) =>
    new Promise<string>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
});

/** Fails `failures` times, then succeeds with the times of its attempts. */
function flaky(failures: number, failure: () => Error = () => new Error('boom')) {
  const at: number[] = [];
  const task = defineTask({
    type: 'flaky',
    retry: { maxAttempts: 5, delayMs: 1000, jitter: false },
    run: (_: unknown, { attempt }) => {
      at.push(sluice.now.getTime());
      if (attempt <= failures) throw failure();
      return at.map((time) => time - at[0]);
    },
  });
  const sluice = new TestSluice([task]);
  return { sluice, task };
}

test('a task is run, and its result is typed', async () => {
  const sluice = new TestSluice([echo]);

  const task = await sluice.submit(echo, 'Ädä');
  const output: string = await task.result();

  expect(output).toBe('Ädä!');
  expect(await task.get()).toMatchObject({ state: 'succeeded', attempt: 1, input: 'Ädä' });
});

test('many are run, in the order of their inputs', async () => {
  const sluice = new TestSluice([echo], { slots: 3 });
  const inputs = Array.from({ length: 1500 }, (_, index) => `${index}`);

  const tasks = await sluice.submitMany(echo, inputs);
  const outputs = await Promise.all(tasks.map((task) => task.result()));

  expect(outputs).toEqual(inputs.map((input) => `${input}!`));
});

describe('time', () => {
  test('a delay of 200 days passes at once, and not a moment more', async () => {
    const sluice = new TestSluice([echo]);
    const before = sluice.now.getTime();

    const task = await sluice.submit(echo, 'x', { delayMs: 200 * DAY_MS });
    await task.result();

    expect(sluice.now.getTime() - before).toBe(200 * DAY_MS);
  });

  test('stands still unless somebody waits or moves it', async () => {
    const sluice = new TestSluice([echo]);
    const task = await sluice.submit(echo, 'x', { runAt: new Date(Date.UTC(2030, 0, 3)) });

    expect(await task.get()).toMatchObject({ state: 'waiting', runAt: '2030-01-03T00:00:00.000Z' });
    await sluice.advance(2 * DAY_MS - 1);
    expect((await task.get()).state).toBe('waiting');
    await sluice.advance(1);
    expect((await task.get()).state).toBe('succeeded');
  });

  test('moved by hand, it waits for nobody', async () => {
    const sluice = new TestSluice([echo], { manualTime: true });
    const task = await sluice.submit(echo, 'x', { delayMs: DAY_MS });
    const result = task.result();

    await sluice.advance(DAY_MS - 1);
    expect((await task.get()).state).toBe('waiting');
    await sluice.advance(1);

    expect(await result).toBe('x!');
  });

  test('a wait that is over in time shows the task as it is', async () => {
    const sluice = new TestSluice([echo]);
    const task = await sluice.submit(echo, 'x', { delayMs: DAY_MS });

    expect(await task.wait({ timeoutMs: 5000 })).toMatchObject({ state: 'waiting' });
    expect(sluice.now.toISOString()).toBe('2030-01-01T00:00:05.000Z');
  });
});

describe('failures', () => {
  test('are retried with backoff, as long as there are attempts', async () => {
    const { sluice, task } = flaky(4);

    const handle = await sluice.submit(task, null);

    expect(await handle.result()).toEqual([0, 1000, 3000, 7000, 15_000]);
  });

  test('RetryAfter says when', async () => {
    const { sluice, task } = flaky(1, () => new RetryAfter(DAY_MS));

    const handle = await sluice.submit(task, null);

    expect(await handle.result()).toEqual([0, DAY_MS]);
  });

  test('the last one is told', async () => {
    const { sluice, task } = flaky(9);

    const handle = await sluice.submit(task, null, { retry: { maxAttempts: 2 } });
    const failure = await handle.result().catch((cause: unknown) => cause);

    expect(failure).toBeInstanceOf(TaskFailed);
    expect(failure).toMatchObject({ state: 'failed', error: { message: 'boom' } });
    expect(await handle.get()).toMatchObject({ attempt: 2 });
  });

  test('a permanent one is not retried', async () => {
    const { sluice, task } = flaky(9, () => new PermanentFailure('declined'));

    const handle = await sluice.submit(task, null);

    await expect(handle.result()).rejects.toThrow('ended as failed: declined');
    expect(await handle.get()).toMatchObject({ attempt: 1 });
  });

  test('an output that is not JSON is one', async () => {
    const sluice = new TestSluice([defineTask({ type: 'bad', run: (): unknown => 1n })]);

    const handle = await sluice.submit('bad');

    await expect(handle.result()).rejects.toMatchObject({ error: { code: 'output_not_json' } });
  });
});

describe('stopping', () => {
  test('a task that waits is cancelled at once', async () => {
    const sluice = new TestSluice([echo]);
    const task = await sluice.submit(echo, 'x', { delayMs: DAY_MS });

    expect(await task.cancel()).toMatchObject({ state: 'cancelled' });
    await expect(task.cancel()).resolves.toMatchObject({ state: 'cancelled' });
    await expect(task.result()).rejects.toThrow('ended as cancelled');
  });

  test('a handler that runs hears it', async () => {
    const sluice = new TestSluice([endless]);
    const task = await sluice.submit(endless, null);

    expect(await task.cancel()).toMatchObject({ state: 'running' });

    expect(await task.wait()).toMatchObject({ state: 'cancelled', attempt: 1 });
  });

  test('one that does not listen loses its task after the grace', async () => {
    const deaf = defineTask({ type: 'deaf', run: () => new Promise(() => undefined) });
    const sluice = new TestSluice([deaf]);
    const task = await sluice.submit(deaf, null);

    await task.cancel({ graceMs: 700 });
    await sluice.advance(699);
    expect((await task.get()).state).toBe('running');
    await sluice.advance(1);

    expect((await task.get()).state).toBe('cancelled');
  });

  test('a handler that takes too long is stopped, and tried again', async () => {
    const sluice = new TestSluice([endless]);
    const options = { timeouts: { runMs: 5000 }, retry: { maxAttempts: 2, jitter: false } };
    const task = await sluice.submit(endless, null, options);

    await sluice.advance(5000);
    expect(await task.get()).toMatchObject({ state: 'waiting', attempt: 1 });
    await sluice.advance(6000);

    const failure = await task.result().catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ state: 'timed_out' });
  });

  test('a queued task expires', async () => {
    const sluice = new TestSluice([endless], { slots: 1 });
    await sluice.submit(endless, null);
    const late = await sluice.submit(endless, null, { timeouts: { queueMs: 60_000 } });

    await sluice.advance(60_000);

    expect((await late.get()).state).toBe('expired');
  });
});

test('a signal reaches the handler', async () => {
  const listens = defineTask({
    type: 'listens',
    run: (_: unknown, { onSignal }) =>
      new Promise<unknown>((resolve) => {
        onSignal((name, data) => resolve([name, data]));
      }),
  });
  const sluice = new TestSluice([listens]);
  const task = await sluice.submit(listens, null);

  await task.signal('louder', { by: 3 });

  expect(await task.result()).toEqual(['louder', { by: 3 }]);
  await expect(task.signal('more')).rejects.toMatchObject({ code: 'task_not_leased' });
});

test('what a handler says of itself can be looked at', async () => {
  let release = (): void => undefined;
  const talks = defineTask({
    type: 'talks',
    async run(_: unknown, { log, progress }) {
      await log('one');
      await progress(0.25, 'a quarter');
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await log('two');
    },
  });
  const sluice = new TestSluice([talks]);
  const task = await sluice.submit(talks, null);

  await sluice.advance(0);
  expect(await task.get()).toMatchObject({ progress: { fraction: 0.25, message: 'a quarter' } });
  release();
  await task.result();

  expect(sluice.logOf(task.id)).toEqual(['one', 'two']);
});

test('a handler that returned Later leaves the end to others', async () => {
  const review = defineTask<null, string>({ type: 'review', run: () => Later });
  const sluice = new TestSluice([review]);
  const [good, bad] = await sluice.submitMany(review, [null, null]);
  const results = Promise.allSettled([good.result(), bad.result()]);
  await sluice.advance(DAY_MS);

  await good.complete('fine');
  await bad.fail('not fine');

  expect(await results).toMatchObject([
    { status: 'fulfilled', value: 'fine' },
    { status: 'rejected', reason: { error: { message: 'not fine' } } },
  ]);
});

describe('submits', () => {
  test('with the same key are the same task; with another input they are refused', async () => {
    const sluice = new TestSluice([echo]);
    const first = await sluice.submit(echo, 'x', { dedupeKey: 'k' });

    const again = await sluice.submit(echo, 'x', { dedupeKey: 'k' });
    const other = sluice.submit(echo, 'y', { dedupeKey: 'k' });

    expect([again.id, again.deduplicated]).toEqual([first.id, true]);
    await expect(other).rejects.toMatchObject({ code: 'dedupe_mismatch', status: 409 });
  });

  test('that no server takes are refused', async () => {
    const sluice = new TestSluice([echo]);

    await expect(sluice.submit(echo, 'x', { priority: 9 })).rejects.toThrow(
      'the task is not valid: /priority',
    );
    await expect(sluice.submit(echo, 'x', { constraints: ['?'] })).rejects.toThrow(SluiceError);
    const huge = sluice.submit('echo', 'x'.repeat(LIMITS.blobBytesMax));
    await expect(huge).rejects.toMatchObject({ status: 413 });
    await expect(sluice.task('t_1').get()).rejects.toMatchObject({ code: 'task_not_found' });
  });

  test('may have inputs, and outputs, that are too big for a request', async () => {
    const sluice = new TestSluice([echo]);
    const large = 'x'.repeat(LIMITS.payloadBytesMax);

    const task = await sluice.submit(echo, large, { dedupeKey: 'k' });
    const again = await sluice.submit(echo, large, { dedupeKey: 'k' });

    expect(await task.result()).toBe(`${large}!`);
    expect(again.id).toBe(task.id);
    const view = await task.get();
    expect(view.inputBlob).toMatch(/^[0-9a-f]{64}$/);
    expect(view).not.toHaveProperty('input');
    expect(view.output).toBe(`${large}!`);
    const later = await sluice.submit('echo', 'x', { delayMs: 1 });
    await later.complete(large);
    expect(await later.result()).toBe(large);
  });

  test('of a registered type have its defaults', async () => {
    const sluice = new TestSluice([echo]);
    await sluice.register(defineTask({ type: 'echo', priority: 7, tags: { color: 'red' } }));

    const task = await sluice.submit('echo', 'x');

    expect(await task.get()).toMatchObject({ priority: 7, tags: { color: 'red' } });
  });

  test('by a handler work, and the handler can wait for them', async () => {
    const parent = defineTask({
      type: 'parent',
      async run(_: unknown, { id }) {
        const child = await sluice.submit(echo, 'child', { parentId: id });
        return child.result();
      },
    });
    const sluice = new TestSluice([parent, echo]);

    const task = await sluice.submit(parent, null);

    expect(await task.result()).toBe('child!');
  });
});

describe('a task that can never run', () => {
  test.each([
    ['nobody handles its type', 'unknown', {}, 'no worker'],
    ['it asks for too much', 'echo', { resources: { gpu: 1 } }, 'gpu'],
    ['it asks for another place', 'echo', { constraints: ['zone == eu'] }, 'zone'],
  ])('because %s is told to whoever waits', async (_, type, options, why) => {
    const sluice = new TestSluice([echo], { resources: {} });

    const task = await sluice.submit(type, null, options);

    await expect(task.result()).rejects.toThrow(new RegExp(`will never end: .*${why}`));
  });
});

describe('update', () => {
  test('changes a task that waits, as a server does', async () => {
    const show = defineTask({ type: 'show', run: (input: object, { tags }) => ({ input, tags }) });
    const sluice = new TestSluice([show]);
    const task = await sluice.submit(
      show,
      { a: 1, b: { c: 2, d: 3 } },
      { delayMs: DAY_MS, tags: { x: 'y', keep: 'it' } },
    );

    const changed = await sluice.update(task, {
      runAt: new Date(sluice.now.getTime() + 5000),
      priority: 8,
      input: { a: null, b: { c: null } },
      tags: { x: null, z: 'new' },
    });

    expect(changed).toMatchObject({ state: 'waiting', priority: 8, input: { b: { d: 3 } } });
    expect(await task.result()).toEqual({
      input: { b: { d: 3 } },
      tags: { keep: 'it', z: 'new' },
    });
    expect(sluice.now.getTime() % DAY_MS).toBe(5000);
  });

  test('refuses what a server refuses', async () => {
    const sluice = new TestSluice([echo]);
    const task = await sluice.submit(echo, 'x', { delayMs: DAY_MS });

    await expect(task.update({ priority: 9 })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(task.update({})).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(task.update({ runAt: '2030-02-30T00:00:00Z' })).rejects.toMatchObject({
      details: [{ path: '/runAt' }],
    });
    await task.cancel();
    await expect(task.update({ priority: 1 })).rejects.toMatchObject({ code: 'task_finished' });
  });
});

test('a type that is submitted by name and not registered is a warning, once', async () => {
  const warnings: string[] = [];
  const sluice = new TestSluice([echo], { onWarning: (message) => warnings.push(message) });

  await sluice.submit(echo, 'x');
  await (await sluice.submit('echo', 'x')).wait();
  await (await sluice.submit('echo', 'x')).wait();
  await sluice.register(echo);

  expect(warnings).toEqual([expect.stringContaining("the type 'echo' are submitted by name")]);
});
