import type { Slot, TaskNumber } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { TaskWaiters } from './task-waiters.ts';

const [first, second] = [1, 2] as TaskNumber[];
const forever = new AbortController().signal;

test('a namespace has its own share of the waits', async () => {
  const waiters = new TaskWaiters({ waitsMax: 1 });
  const waiting = waiters.waitForAny('default', [first], 60_000, forever);

  expect(() => waiters.admit('default')).toThrow('quotas.waitsMax (1)');
  expect(() => waiters.admit('other')).not.toThrow();
  waiters.giveUp();
  await waiting;
  expect(() => waiters.admit('default')).not.toThrow();
});

test('waiting is refused while too many wait, and possible again afterwards', async () => {
  const waiters = new TaskWaiters();
  const waiting = Array.from({ length: 10_000 }, () =>
    waiters.waitForAny('other', [first], 60_000, forever),
  );
  expect(() => waiters.admit('default')).toThrow('too many requests wait');

  waiters.giveUp();

  expect(await Promise.all(waiting)).toEqual(Array(10_000).fill([]));
  expect(() => waiters.admit('default')).not.toThrow();
});

test('few requests for very many tasks are too many, too', async () => {
  const waiters = new TaskWaiters();
  const tasks = Array.from({ length: 1000 }, (_, number) => number as TaskNumber);
  const waiting = Array.from({ length: 500 }, () =>
    waiters.waitForAny('default', tasks, 60_000, forever),
  );

  expect(() => waiters.admit('default', 1)).toThrow('too many requests wait');

  waiters.giveUp();
  await Promise.all(waiting);
  expect(() => waiters.admit('default', 1000)).not.toThrow();
});

test('who waits for several tasks and goes away is forgotten by all of them', async () => {
  const waiters = new TaskWaiters();
  const gone = new AbortController();
  const waiting = waiters.waitForAny('default', [first, second], 60_000, gone.signal);

  gone.abort();

  expect(await waiting).toEqual([]);
  expect(() => waiters.admit('default', 500_000)).not.toThrow();
});

test('what is too much to be kept until it is durable is left to be read', async () => {
  const partition = new TestPartition();
  partition.submit({}, {});
  const { tasks } = partition.state;
  const slots = [tasks.find(first), tasks.find(second)] as [Slot, Slot];
  // Full after the first one, whatever its size.
  const waiters = new TaskWaiters({ stagedMax: 1 });
  const waiting = [first, second].map((task) =>
    waiters.waitForAny('default', [task], 60_000, forever),
  );

  for (const release of waiters.stage(partition.state, slots)) release();

  expect((await Promise.all(waiting)).map(({ length }) => length)).toEqual([1, 0]);

  const later = waiters.waitForAny('default', [second], 60_000, forever);
  for (const release of waiters.stage(partition.state, [slots[1]])) release();
  expect(await later).toHaveLength(1);
});
