import { expect, test } from 'vitest';
import { TestPartition } from '../../testing/test-partition.ts';
import type { TestTask } from '../../testing/test-requests.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { PatchTasks } from './patch-tasks.ts';
import type { RetryTasks } from './retry-tasks.ts';

const KEY = { key: 1, body: 1, windowMs: 1000 };

test('the same key with the same body is the same task', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });

  const { slots, known } = partition.submit({ dedupe: KEY });

  expect(slots).toEqual([0]);
  expect(known?.get(0)).toMatchObject({ number: 1 });
  expect(partition.state.nextTask).toBe(2);
});

test('the same key with another body is refused, and nothing of the array is stored', () => {
  const partition = new TestPartition();
  partition.submit({ dedupe: KEY });

  const reply = partition.submit({}, { dedupe: { ...KEY, body: 2 } });

  expect(reply).toMatchObject({ rejection: 'dedupe_mismatch', mismatchAt: 1 });
  expect(partition.state.tasks.count).toBe(1);
});

test('a key twice in one array: the second is deduplicated, or refused with another body', () => {
  const partition = new TestPartition();

  const same = partition.submit({ dedupe: KEY }, {}, { dedupe: KEY });
  const other = partition.submit(
    { dedupe: { ...KEY, key: 2 } },
    { dedupe: { ...KEY, key: 2, body: 2 } },
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
  const dedupe = { key: 1, body: 1, windowMs: 1000 };
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

  const { known, rejection } = partition.submit({ dedupe: { ...KEY, key: 9, body: 2 } });

  expect([known, rejection]).toEqual([undefined, undefined]);
  expect(partition.submit({ dedupe: { ...KEY, key: 9, body: 2 } }).known?.get(0)?.number).toBe(10);
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
