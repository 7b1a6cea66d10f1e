import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import type { TaskContext } from '../task/task-context.ts';
import { TestSluice, type TestSluiceOptions } from './test-sluice.ts';

const HOUR_MS = 3_600_000;

const realTimeout = globalThis.setTimeout;
const RealDate = globalThis.Date;

/** The result of a handler that runs with virtual timers. */
async function resultOf<T>(
  run: (context: TaskContext) => T | Promise<T>,
  options: TestSluiceOptions = { fakeTimers: true },
): Promise<T> {
  const task = defineTask({
    type: 'a',
    retry: { maxAttempts: 1 },
    run: (_: null, context): Promise<T> | T => run(context),
  });
  const handle = await new TestSluice([task], options).submit(task, null);
  return handle.result() as Promise<T>;
}

test('now() is the virtual clock', async () => {
  const at = await resultOf(({ now }) => now(), { startAt: '2031-05-06T00:00:00Z' });

  expect(new Date(at).toISOString()).toBe('2031-05-06T00:00:00.000Z');
});

describe('with fakeTimers', () => {
  test.each<[string, (ms: number) => Promise<unknown>]>([
    ['setTimeout', (ms) => new Promise((resolve) => setTimeout(resolve, ms))],
    ['node:timers/promises', (ms) => sleep(ms)],
    ['a promisified setTimeout', (ms) => promisify(setTimeout)(ms)],
  ])('%s of an hour passes at once', async (_, wait) => {
    const passed = await resultOf(async ({ now }) => {
      const times = () => [
        now(),
        Date.now(),
        Date.parse(new Date().toISOString()),
        Date.parse(Date()),
      ];
      const before = times();
      await wait(HOUR_MS);
      return times().map((time, index) => time - before[index]);
    });

    expect(passed).toEqual([HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS]);
  });

  test('timers fire in order, with their arguments, and promises settle in between', async () => {
    const seen = await resultOf(async () => {
      const seen: unknown[] = [];
      setTimeout((word) => seen.push(word), 20, 'third');
      setTimeout(() => {
        seen.push('first');
        void Promise.resolve().then(() => seen.push('second'));
      }, 10);
      setTimeout(() => seen.push('between'), 10);
      await sleep(30);
      return seen;
    });

    expect(seen).toEqual(['first', 'second', 'between', 'third']);
  });

  test('timers can be cancelled, by handle or by number', async () => {
    const seen = await resultOf(async () => {
      const seen: string[] = [];
      const first = setTimeout(() => seen.push('cancelled'), 10);
      const second = setTimeout(() => seen.push('cancelled'), 10);
      const ticks = setInterval(() => seen.push('tick'), 100).unref();
      clearTimeout(first);
      clearTimeout(Number(second));
      await sleep(250);
      clearInterval(ticks);
      await sleep(250);
      return seen;
    });

    expect(seen).toEqual(['tick', 'tick']);
  });

  test('a sleep with a signal ends when the task is cancelled', async () => {
    const task = defineTask({
      type: 'a',
      run: (_: null, { signal }) => sleep(HOUR_MS, 'slept', { signal }),
    });
    const sluice = new TestSluice([task], { fakeTimers: true });
    const handle = await sluice.submit(task, null);

    await handle.cancel();

    expect(await handle.wait()).toMatchObject({ state: 'cancelled' });
    await expect(resultOf(() => sleep(1, 'x', { signal: AbortSignal.abort() }))).rejects.toThrow(
      'aborted',
    );
  });

  test('a run timeout stops a handler that sleeps too long', async () => {
    const task = defineTask({
      type: 'a',
      retry: { maxAttempts: 1 },
      timeouts: { runMs: 5000 },
      run: (_: null, { signal }) => sleep(HOUR_MS, undefined, { signal }),
    });
    const sluice = new TestSluice([task], { fakeTimers: true });

    const handle = await sluice.submit(task, null);

    await expect(handle.result()).rejects.toMatchObject({ state: 'timed_out' });
  });

  test('time stands still during a real request, although fetch has timers', async () => {
    const server = createServer((_, response) => {
      realTimeout(() => response.end('"answer"'), 50);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    const seen = await resultOf(async ({ now }) => {
      const before = now();
      const first = await (await fetch(url)).json();
      const passed = [now() - before];
      await sleep(HOUR_MS);
      const second = await (await fetch(url, { signal: AbortSignal.timeout(60_000) })).json();
      passed.push(now() - before);
      return [first, second, ...passed];
    });
    server.closeAllConnections();
    server.close();

    expect(seen).toEqual(['answer', 'answer', 0, HOUR_MS]);
  });

  test('advance fires them, too', async () => {
    const seen: string[] = [];
    const task = defineTask({
      type: 'a',
      async run() {
        for (const word of ['one', 'two', 'three']) {
          await sleep(1000);
          seen.push(word);
        }
      },
    });
    const sluice = new TestSluice([task], { fakeTimers: true, manualTime: true });
    await sluice.submit(task, undefined);

    await sluice.advance(2999);
    expect(seen).toEqual(['one', 'two']);
    await sluice.advance(1);
    expect(seen).toEqual(['one', 'two', 'three']);
  });

  test('dates with arguments, and what a Date is, stay as they are', async () => {
    const facts = await resultOf(() => [
      new Date(2020, 1, 29).getFullYear(),
      new Date(0).getTime(),
      new Date() instanceof Date,
      Date.UTC(1970, 0, 1),
    ]);

    expect(facts).toEqual([2020, 0, true, 0]);
  });
});

describe('outside of handlers', () => {
  test('timers stay real while a handler sleeps, and the globals are restored', async () => {
    const task = defineTask({ type: 'a', run: () => sleep(HOUR_MS) });
    const sluice = new TestSluice([task], { fakeTimers: true, manualTime: true });
    const handle = await sluice.submit(task, undefined);
    await sluice.advance(0);

    const realNow = performance.timeOrigin + performance.now();
    const outside = [Date.now(), Date.parse(new Date().toISOString())];
    await new Promise((resolve) => setTimeout(resolve, 1));
    await sluice.advance(HOUR_MS);

    expect(outside.filter((time) => Math.abs(time - realNow) > HOUR_MS)).toEqual([]);
    expect((await handle.get()).state).toBe('succeeded');
    expect(globalThis.setTimeout).toBe(realTimeout);
    expect(globalThis.Date).toBe(RealDate);
  });

  test('without the option, timers of handlers are real', async () => {
    const isReal = await resultOf(() => globalThis.setTimeout === realTimeout, {});

    expect(isReal).toBe(true);
  });
});
