import { beforeEach, expect, test } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import { TestPartition } from '../testing/test-partition.ts';

let partition: TestPartition;
let session: SessionId;

beforeEach(() => {
  partition = new TestPartition({ finishedTasksMax: 2, tasksMax: 20 });
  session = partition.attach({ slots: 20 }).session;
});

test('without a projection the oldest finished tasks leave as soon as there are too many', () => {
  for (let i = 0; i < 5; i++) finishOne();

  partition.submit();

  expect(kept()).toEqual([4, 5]);
});

test('finished tasks that the projection has not passed stay, however many there are', () => {
  partition.keepUnlessEndedBefore(0);
  for (let i = 0; i < 5; i++) finishOne();

  partition.submit();

  expect(kept()).toEqual([1, 2, 3, 4, 5]);
});

test('those that ended before what is projected leave, the others stay', () => {
  partition.keepUnlessEndedBefore(0);
  const endedAt = Array.from({ length: 5 }, finishOne);

  partition.keepUnlessEndedBefore(endedAt[1]);
  partition.submit();
  expect(kept()).toEqual([2, 3, 4, 5]);

  partition.keepUnlessEndedBefore(endedAt[1] + 1);
  partition.submit();
  expect(kept()).toEqual([3, 4, 5]);
});

test('what is projected stays while there is room', () => {
  partition.keepUnlessEndedBefore(0);
  for (let i = 0; i < 5; i++) finishOne();

  partition.keepUnlessEndedBefore(partition.now + 1);
  partition.submit();

  expect(kept()).toEqual([4, 5]);
});

test('a clock that is set back does not make a later end look projected', () => {
  partition.keepUnlessEndedBefore(partition.now + 100);
  for (let i = 0; i < 4; i++) finishOne();

  partition.submit();

  expect(kept()).toEqual([1, 2, 3, 4]);
});

test('a projection that stays behind for too long makes the partition refuse tasks', () => {
  partition.keepUnlessEndedBefore(0);
  for (let i = 0; i < 20; i++) finishOne();

  expect(partition.submit({}).rejection).toBe('too_many_tasks');
  partition.keepUnlessEndedBefore(partition.now + 1);
  expect(partition.submit({}).rejection).toBeUndefined();
});

test('results leave before new work is refused for want of memory (L9)', () => {
  partition = new TestPartition({ payloadBytesMax: 1000, finishedTasksMax: 20 });
  session = partition.attach({ slots: 20 }).session;
  const payload = `"${'x'.repeat(298)}"`;
  for (let i = 0; i < 5; i++) {
    const { rejection } = partition.submit({ input: payload });
    expect(rejection).toBeUndefined();
    const [lease] = partition.leasesOf(session);
    partition.report(session, { lease, kind: 'succeeded', payload });
  }

  expect(partition.state.heldBytes).toBeLessThanOrEqual(1200);
});

test('no dead letter leaves because memory is full: the submit is refused', () => {
  partition = new TestPartition({ payloadBytesMax: 1000 });
  session = partition.attach({ slots: 20 }).session;
  const payload = `"${'x'.repeat(298)}"`;
  const rejections: unknown[] = [];
  for (let i = 0; i < 5; i++) {
    rejections.push(partition.submit({ input: payload }).rejection);
    for (const lease of partition.leasesOf(session)) {
      partition.report(session, { lease, kind: 'failed', retryable: false, payload });
    }
  }

  expect(rejections.at(0)).toBeUndefined();
  expect(rejections.at(-1)).toBe('too_many_bytes');
  expect(partition.state.deadLetters.dropped).toBe(0);
  expect(partition.state.deadLetters.count).toBe(rejections.filter((each) => !each).length);
});

function finishOne(): number {
  partition.submit({});
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded' });
  const endedAt = partition.now;
  partition.now += 10;
  return endedAt;
}

function kept(): number[] {
  const { tasks } = partition.state;
  return Array.from(tasks.number as Float64Array)
    .filter((number) => number !== 0)
    .toSorted((a, b) => a - b);
}
