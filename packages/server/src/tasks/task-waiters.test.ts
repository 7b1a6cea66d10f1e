import type { TaskNumber } from '@sluice/core';
import { expect, test } from 'vitest';
import { TaskWaiters } from './task-waiters.ts';

test('waiting is refused while too many wait, and possible again afterwards', async () => {
  const waiters = new TaskWaiters();
  const signal = new AbortController();
  const waiting = Array.from({ length: 10_000 }, () =>
    waiters.wait(1 as TaskNumber, 60_000, signal.signal),
  );
  expect(() => waiters.admit()).toThrow('too many requests wait');

  waiters.giveUp();

  expect(await Promise.all(waiting)).toEqual(Array(10_000).fill(undefined));
  expect(() => waiters.admit()).not.toThrow();
});
