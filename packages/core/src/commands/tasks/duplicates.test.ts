import { expect, test } from 'vitest';
import { EXISTING_DUPLICATE, REPLACE_DUPLICATE } from '../../task/dedupe-claim.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { TestTask } from '../../testing/test-requests.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { PatchTasks } from './patch-tasks.ts';
import type { RetryTasks } from './retry-tasks.ts';

const KEY = { key: 1, input: 1, windowMs: 1000 };

test('the same key with the same input is the same task', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });

  const { slots, known } = partition.submit({ dedupe: KEY });

  expect(slots).toEqual([0]);
  expect(known?.get(0)).toMatchObject({ number: 1 });
  expect(partition.state.nextTask).toBe(2);
});

test('the same key with another input is refused, and nothing of the array is stored', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });

  const reply = partition.submit({}, { dedupe: { ...KEY, input: 2 } });

  expect(reply).toMatchObject({ rejection: 'dedupe_mismatch', mismatchAt: 1 });
  expect(partition.state.tasks.count).toBe(1);
});

test('a key twice in one array: the second is deduplicated, or refused with another input', () => {
  const partition = new TestPartition();

  const same = partition.submit({ dedupe: KEY }, {}, { dedupe: KEY });
  const other = partition.submit(
    { dedupe: { ...KEY, key: 2 } },
    { dedupe: { ...KEY, key: 2, input: 2 } },
  );

  expect(same.slots).toEqual([0, 1, 0]);
  expect([...(same.known?.keys() ?? [])]).toEqual([2]);
  expect(other.rejection).toBe('dedupe_mismatch');
});

test('the window starts at the first submit and is not extended', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });
  partition.now += 999;
  expect(partition.submit({ dedupe: { ...KEY, windowMs: 50_000 } }).known?.size).toBe(1);

  partition.now += 1;

  expect(partition.submit({ dedupe: KEY }).known).toBeUndefined();
  expect(partition.state.nextTask).toBe(3);
});

test('the window ignores PATCH, retry and the end of the task', () => {
  const partition = new TestPartition();
  const dedupe = { key: 1, input: 1, windowMs: 1000 };
  partition.submit({ dedupe, input: '1' });
  const id = partition.id(1);
  partition.now += 400;
  const patches = [{ id, priority: 8, hasInput: true }];
  partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches,
    inputs: testUtf8.encode('2'),
    inputEnds: [1],
  });
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [id], graceMs: 0 });
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [id] });
  partition.now += 599;

  const within = partition.submit({ dedupe, input: '1' }).known?.get(0)?.number;
  partition.now += 1;
  const after = partition.submit({ dedupe, input: '1' }).known;

  expect([within, after]).toEqual([1, undefined]);
});

test('the key outlives its task and says how it ended, also after a restart', () => {
  const partition = new TestPartition({ finishedTasksMax: 0 });
  const { session } = partition.attach();
  partition.submit({ dedupe: KEY });
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded' });
  partition.submit({});
  expect(() => partition.task(1)).toThrow('not in memory');
  partition.restart();

  const { slots, known } = partition.submit({ dedupe: KEY });

  expect(slots).toEqual([-1]);
  expect(known?.get(0)).toMatchObject({ number: 1, state: 6 });
});

test('a key that nobody asks for again is forgotten when its window is over', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });

  partition.now += 1000;
  partition.advance();

  expect(partition.state.dedupe.count).toBe(0);
});

test('a key whose window is over is not found, heard by its timer or not', () => {
  const partition = new TestPartition();
  partition.submit(...keyed(1, 9));
  partition.now += 1000;

  const { known, rejection } = partition.submit({ dedupe: { ...KEY, key: 9, input: 2 } });

  expect([known, rejection]).toEqual([undefined, undefined]);
  expect(partition.submit({ dedupe: { ...KEY, key: 9, input: 2 } }).known?.get(0)?.number).toBe(10);
  expect(partition.state.dedupe.count).toBe(9);
});

test('keys whose windows are over keep no others out, and no more go than are in the way', () => {
  const partition = new TestPartition({ dedupeKeysMax: 9 });
  partition.submit(...keyed(1, 8));
  partition.now += 999;
  const before = partition.submit(...keyed(10, 3)).rejection;
  partition.now += 1;

  const after = partition.submit(...keyed(10, 3)).rejection;

  expect([before, after]).toEqual(['too_many_keys', undefined]);
  expect(partition.state.dedupe.count).toBe(9);
});

test('keys are bounded', () => {
  const partition = new TestPartition({
    dedupeKeysMax: 1,
    payloadBytesMax: 100_000,
    unsentBytesMax: 100_000,
  });
  partition.submit({ dedupe: KEY });

  expect(partition.submit({ dedupe: { ...KEY, key: 2 } }).rejection).toBe('too_many_keys');
  expect(partition.submit({}).rejection).toBeUndefined();
});

/** Tasks with the keys from `first` on. */
function keyed(first: number, count: number): TestTask[] {
  return Array.from({ length: count }, (_, n) => ({ dedupe: { ...KEY, key: first + n } }));
}

const EXISTING = { ...KEY, input: 2, onDuplicate: EXISTING_DUPLICATE };
const REPLACE = { ...KEY, input: 2, onDuplicate: REPLACE_DUPLICATE };

test('with `existing`, another input gets the task of the key, which does not change', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY, input: '1' });

  const { slots, known } = partition.submit({ dedupe: EXISTING, input: '2' });

  expect(slots).toEqual([0]);
  expect(known?.get(0)).toMatchObject({ number: 1 });
  expect(partition.task(1)).toMatchObject({ input: [...testUtf8.encode('1')] });
  expect(partition.submit({ dedupe: { ...KEY, input: 2 } }).rejection).toBe('dedupe_mismatch');
});

test('with `replace`, a task that nobody holds takes input, time, priority and tags', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY, input: '1', delayMs: 500, tags: { a: 'old' } });
  const runAt = partition.now + 900;

  const later = { dedupe: REPLACE, input: '2', runAt, priority: 8, tags: { b: 'new' } };
  const { known } = partition.submit(later);

  expect(known?.get(0)).toMatchObject({ number: 1 });
  expect(partition.task(1)).toMatchObject({
    state: 'waiting',
    dueAt: runAt,
    priority: 8,
    input: [...testUtf8.encode('2')],
    tags: '{"b":"new"}',
  });
});

test('after `replace` the key stands for the new input, within the first window', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });
  partition.submit({ dedupe: REPLACE });

  expect(partition.submit({ dedupe: { ...KEY, input: 2 } }).known?.size).toBe(1);
  expect(partition.submit({ dedupe: KEY }).rejection).toBe('dedupe_mismatch');
  partition.now += 1000;
  expect(partition.submit({ dedupe: KEY }).known).toBeUndefined();
});

test('`replace` with the same input moves a reminder', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY, delayMs: 500 });

  partition.submit({ dedupe: { ...REPLACE, input: 1 }, delayMs: 900 });

  expect(partition.task(1)).toMatchObject({ state: 'waiting', dueAt: partition.now + 900 });
});

test('`replace` of a task that is due leaves its place in the queue', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY }, {});

  partition.submit({ dedupe: REPLACE });

  partition.attach({ slots: 1 });
  expect(partition.task(1)).toMatchObject({ state: 'leased' });
});

test('a task that a worker holds, or that ended, is not replaced', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY, input: '1' });
  partition.attach({ slots: 1 });

  const { rejection, mismatch } = partition.submit({ dedupe: REPLACE, input: '2' });

  expect({ rejection, mismatch }).toMatchObject({
    rejection: 'dedupe_mismatch',
    mismatch: { number: 1 },
  });
  expect(partition.submit({ dedupe: { ...REPLACE, input: 1 } }).known?.size).toBe(1);
  expect(partition.task(1)).toMatchObject({ input: [...testUtf8.encode('1')] });
});

test('a key that is replaced twice in one array has the last input', () => {
  const partition = new TestPartition();

  partition.submit(
    { dedupe: KEY, input: '1' },
    { dedupe: REPLACE, input: '2' },
    { dedupe: { ...REPLACE, input: 3 }, input: '3' },
  );

  expect(partition.state.tasks.count).toBe(1);
  expect(partition.task(1)).toMatchObject({ input: [...testUtf8.encode('3')] });
  expect(partition.submit({ dedupe: { ...KEY, input: 3 } }).known?.size).toBe(1);
});

test('a replacement that does not fit is refused, and nothing changes', () => {
  const partition = new TestPartition({ payloadBytesMax: 10 });
  partition.submit({ dedupe: KEY, input: '1' });

  const { rejection } = partition.submit({ dedupe: REPLACE, input: '"0123456789"' });

  expect(rejection).toBe('too_many_bytes');
  expect(partition.task(1)).toMatchObject({ input: [...testUtf8.encode('1')] });
});
