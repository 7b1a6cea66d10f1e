import type { Slot, TaskNumber } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { TaskWaiters } from './task-waiters.ts';

const [first, second] = [1, 2] as TaskNumber[];
const forever = new AbortController().signal;

test('waiting is refused while too many wait, and possible again afterwards', async () => {
  const waiters = new TaskWaiters();
  const waiting = Array.from({ length: 10_000 }, () =>
    waiters.waitForAny([first], 60_000, forever),
  );
  expect(() => waiters.admit()).toThrow('too many requests wait');

  waiters.giveUp();

  expect(await Promise.all(waiting)).toEqual(Array(10_000).fill([]));
  expect(() => waiters.admit()).not.toThrow();
});

test('few requests for very many tasks are too many, too', async () => {
  const waiters = new TaskWaiters();
  const tasks = Array.from({ length: 1000 }, (_, number) => number as TaskNumber);
  const waiting = Array.from({ length: 500 }, () => waiters.waitForAny(tasks, 60_000, forever));

  expect(() => waiters.admit(1)).toThrow('too many requests wait');

  waiters.giveUp();
  await Promise.all(waiting);
  expect(() => waiters.admit(1000)).not.toThrow();
});

test('who waits for several tasks and goes away is forgotten by all of them', async () => {
  const waiters = new TaskWaiters();
  const gone = new AbortController();
  const waiting = waiters.waitForAny([first, second], 60_000, gone.signal);

  gone.abort();

  expect(await waiting).toEqual([]);
  expect(() => waiters.admit(500_000)).not.toThrow();
});

test('what is too much to be kept until it is durable is left to be read', async () => {
  const partition = new TestPartition();
  partition.submit({}, {});
  const { tasks } = partition.state;
  const slots = [tasks.find(first), tasks.find(second)] as [Slot, Slot];
  // Full behind the first one, whatever its size.
  const waiters = new TaskWaiters(1);
  const waiting = [first, second].map((task) => waiters.waitForAny([task], 60_000, forever));

  for (const release of waiters.stage(partition.state, slots)) release();

  expect((await Promise.all(waiting)).map(({ length }) => length)).toEqual([1, 0]);

  const later = waiters.waitForAny([second], 60_000, forever);
  for (const release of waiters.stage(partition.state, [slots[1]])) release();
  expect(await later).toHaveLength(1);
});
