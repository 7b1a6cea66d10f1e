import { describe, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { Later } from '../task/failures.ts';
import { TestSluice } from './test-sluice.ts';
import { turn } from './test-waits.ts';

const DAY_MS = 86_400_000;

const flaky = defineTask({
  type: 'flaky',
  retry: { maxAttempts: 3, delayMs: 10_000, jitter: false },
  run: (_: null, { attempt }) => {
    if (attempt < 3) throw new Error('not yet');
    return `attempt ${attempt}`;
  },
});

/** Waits for one child that it submits. */
const parent = defineTask({
  type: 'parent',
  retry: { maxAttempts: 1 },
  run: async (child: string, { submit }) => (await submit(child, null)).result(),
});

const echo = defineTask({ type: 'echo', run: () => 'echo' });
const later = defineTask<null, string>({ type: 'later', run: () => Later });

describe('time passes while every handler waits for tasks (test-time.only-when-idle)', () => {
  test('a child is retried with its backoff', async () => {
    const sluice = new TestSluice([parent, flaky]);
    const before = sluice.now.getTime();
    await sluice.register(flaky);

    const task = await sluice.submit(parent, 'flaky');

    expect(await task.result()).toBe('attempt 3');
    expect(sluice.now.getTime() - before).toBe(30_000);
  });

  test('a handler may also submit through the client of the test', async () => {
    const outside = defineTask({
      type: 'outside',
      run: async () => (await sluice.submit(echo, undefined, { delayMs: DAY_MS })).result(),
    });
    const sluice = new TestSluice([outside, echo]);

    const task = await sluice.submit(outside, undefined);

    expect(await task.result()).toBe('echo');
  });

  test('a family of three generations ends', async () => {
    const family = defineTask({
      type: 'family',
      async run(depth: number, { submitMany }): Promise<number> {
        if (depth === 0) return 1;
        const children = await submitMany<number>('family', [depth - 1, depth - 1], {
          delayMs: 1000,
        });
        const counts = await Promise.all(children.map((child) => child.result()));
        return counts.reduce((sum, count) => sum + count, 1);
      },
    });
    const sluice = new TestSluice([family]);

    const task = await sluice.submit(family, 3);

    expect(await task.result()).toBe(15);
  });

  test('a timeout of the parent is not longer than on a server', async () => {
    const sluice = new TestSluice([parent, flaky]);
    await sluice.register(flaky);

    const task = await sluice.submit(parent, 'flaky', { timeouts: { runMs: 15_000 } });

    await expect(task.result()).rejects.toMatchObject({ state: 'timed_out' });
  });

  test('the time limit of a wait in a handler ends it', async () => {
    const impatient = defineTask({
      type: 'impatient',
      async run(_: null, { submit, now }) {
        const before = now();
        const child = await submit('later', null);
        const { state } = await child.wait({ timeoutMs: 5000 });
        return [state, now() - before];
      },
    });
    const sluice = new TestSluice([impatient, later]);

    const task = await sluice.submit(impatient, null);

    expect(await task.result()).toEqual(['running', 5000]);
  });
});

describe('time stands still', () => {
  test('while only handlers wait, and not the test', async () => {
    const slow = defineTask({
      type: 'slow',
      run: async (_: null, { submit }) =>
        (await submit(echo, undefined, { delayMs: 1000 })).result(),
    });
    const sluice = new TestSluice([slow, echo]);

    const task = await sluice.submit(slow, null);
    await sluice.advance(999);

    expect((await task.get()).state).toBe('running');
    await sluice.advance(1);
    expect((await task.get()).state).toBe('succeeded');
  });

  test('while one of the handlers does something else', async () => {
    let release = (): void => undefined;
    const works = defineTask({
      type: 'works',
      async run(_: null, { now }) {
        const before = now();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return now() - before;
      },
    });
    const sluice = new TestSluice([works, echo]);
    const working = await sluice.submit(works, null);
    const delayed = await sluice.submit(echo, undefined, { delayMs: DAY_MS });
    const results = Promise.all([working.result(), delayed.result()]);

    // The handler waits for something real, which takes a few turns of the event loop.
    for (let turns = 0; turns < 5; turns++) await turn();
    release();

    expect(await results).toEqual([0, 'echo']);
  });
});

test('a handler that lost its task does not hold time up', async () => {
  const deaf = defineTask<null, string>({ type: 'deaf', run: () => new Promise(() => undefined) });
  const sluice = new TestSluice([deaf, echo]);
  const lost = await sluice.submit(deaf, null);
  const delayed = await sluice.submit(echo, undefined, { delayMs: DAY_MS });
  const result = delayed.result();
  for (let turns = 0; turns < 5; turns++) await turn();

  await lost.complete('from outside');

  expect(await result).toBe('echo');
});

describe('what can never end is named', () => {
  test('a child without a slot, because its parent has it', async () => {
    const sluice = new TestSluice([parent, echo], { slots: 1 });

    const task = await sluice.submit(parent, 'echo');
    const problem = await task.result().catch((cause: Error) => cause.message);

    expect(problem).toMatch(
      /^task (t_\w+) will never end: its handler waits for (t_\w+); \2 \(echo\): .*slot/,
    );
    expect(problem).toContain(task.id);
    expect(await task.get()).toMatchObject({ state: 'running', attempt: 1 });
  });

  test('a child whose type nobody handles, two generations below', async () => {
    const grandparent = defineTask({
      type: 'grandparent',
      run: async (_: null, { submit }) => (await submit(parent, 'typo')).result(),
    });
    const sluice = new TestSluice([grandparent, parent]);

    const task = await sluice.submit(grandparent, null);

    await expect(task.result()).rejects.toThrow(
      /its handler waits for \w+; \w+ \(parent\): its handler waits for \w+; \w+ \(typo\): no worker/,
    );
  });

  test('a handler that waits for itself', async () => {
    const selfish = defineTask({
      type: 'selfish',
      run: async (_: null, { id }): Promise<unknown> => sluice.task(id).result(),
    });
    const sluice = new TestSluice([selfish]);

    const task = await sluice.submit(selfish, null);

    await expect(task.result()).rejects.toThrow(`its handler waits for ${task.id}`);
  });

  test('but not a child that a call from outside may end', async () => {
    let childId = '';
    const reviewed = defineTask({
      type: 'reviewed',
      async run(_: null, { submit }) {
        const child = await submit(later, null);
        childId = child.id;
        return child.result();
      },
    });
    const sluice = new TestSluice([reviewed, later]);
    const task = await sluice.submit(reviewed, null);
    const result = task.result();
    await sluice.advance(DAY_MS);

    await sluice.task(childId).complete('from outside');

    expect(await result).toBe('from outside');
  });
});

test('a parent with a heartbeat timer waits, or hears that its child never ends', async () => {
  const parent = defineTask({
    type: 'parent',
    async run(child: string, { submit, heartbeat }) {
      const beat = setInterval(() => void heartbeat(), 60_000);
      try {
        const handle = await submit(child, null, { delayMs: 3_600_000 });
        return await handle.result();
      } finally {
        clearInterval(beat);
      }
    },
  });
  const child = defineTask({ type: 'child', run: () => 'grown up' });
  const sluice = new TestSluice([parent, child], { fakeTimers: true });
  const options = { timeouts: { heartbeatMs: 90_000 } };

  const good = await sluice.submit(parent, 'child', options);
  expect(await good.result()).toBe('grown up');
  const bad = await sluice.submit(parent, 'typo');
  await expect(bad.result()).rejects.toThrow('will never end: its handler waits for');
});
