import { expect, test } from 'vitest';
import { REQUEST_KEYS_LEVEL } from '../../base/level.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { RetryTasks } from './retry-tasks.ts';

const KEY = { key: 1, input: 1, windowMs: 60_000 };

test('a request that comes again gives its tasks, and stores none', () => {
  const partition = new TestPartition();
  const first = partition.submitAs(KEY, [{ input: '1' }, { input: '2' }, { input: '3' }]);
  partition.submit({ input: 'other' });

  const second = partition.submitAs(KEY, [{ input: '1' }, { input: '2' }, { input: '3' }]);

  expect(second.slots).toEqual(first.slots);
  expect([...(second.known ?? [])].map(([place, { number }]) => [place, number])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  expect(partition.state.tasks.count).toBe(4);
});

test('one key is remembered for all tasks of a request', () => {
  const partition = new TestPartition();

  partition.submitAs(
    KEY,
    Array.from({ length: 100 }, () => ({})),
  );

  expect(partition.state.dedupe.count).toBe(1);
  expect(partition.state.namespaces.find('default')?.dedupeKeys).toBe(1);
});

test('the key of a request with another body is refused, and names its first task', () => {
  const partition = new TestPartition();
  partition.submitAs(KEY, [{}, {}]);

  const { rejection, mismatch, slots } = partition.submitAs({ ...KEY, input: 2 }, [{}]);

  expect([rejection, mismatch?.number, slots]).toEqual(['request_mismatch', 1, []]);
  expect(partition.state.tasks.count).toBe(2);
});

test('a request is new again after its window', () => {
  const partition = new TestPartition();
  partition.submitAs(KEY, [{}]);
  partition.now += KEY.windowMs;

  const { known } = partition.submitAs(KEY, [{}]);

  expect(known).toBeUndefined();
  expect(partition.state.tasks.count).toBe(2);
});

test('a request that was refused leaves no key', () => {
  const partition = new TestPartition({ tasksMax: 2 });
  expect(partition.submitAs(KEY, [{}, {}, {}]).rejection).toBe('too_many_tasks');

  const { known, rejection } = partition.submitAs({ ...KEY, input: 2 }, [{}]);

  expect([known, rejection]).toEqual([undefined, undefined]);
});

test('a repeated request is answered while nothing else is accepted', () => {
  const partition = new TestPartition({ tasksMax: 2, dedupeKeysMax: 1 });
  partition.submitAs(KEY, [{}, {}]);
  expect(partition.submitAs({ ...KEY, key: 2 }, [{}]).rejection).toBe('too_many_tasks');

  expect(partition.submitAs(KEY, [{}, {}]).known?.size).toBe(2);
});

test('a new input of the first task does not change what the request is compared with', () => {
  const partition = new TestPartition();
  partition.submitAs(KEY, [{ retry: { maxAttempts: 1 } }]);
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });
  const input = { bytes: new Uint8Array([49]), words: Uint32Array.of(9, 9, 9, 9) };
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)], input });

  expect(partition.submitAs(KEY, [{}]).known?.size).toBe(1);
});

test('the place of a key that a request had is a plain key again', () => {
  const partition = new TestPartition({ dedupeKeysMax: 1 });
  partition.submitAs({ ...KEY, windowMs: 10 }, [{}]);
  partition.now += 10;
  partition.submit({ dedupe: { key: 2, input: 2, windowMs: 1000 } });

  expect(partition.state.dedupe.entryOf(2 as never)).toBe(0);
  expect(partition.state.dedupe.entryOf(1 as never)).toBe(-1);
});

test('a partition writes no event above its level (level.waits)', () => {
  const partition = new TestPartition();
  partition.level = REQUEST_KEYS_LEVEL - 1;

  const submitting = () => partition.submitAs(KEY, [{}]);

  expect(submitting).toThrow('a partition writes no event above its level');
});
