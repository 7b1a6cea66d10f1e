import { expect, test } from 'vitest';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { joined } from '../../testing/test-payloads.ts';
import type { PatchTasks, TaskPatch } from './patch-tasks.ts';
import type { PauseTask, ResumeTask } from './pause-tasks.ts';

test('PATCH, new priority: the task goes to the tail of that level', () => {
  const partition = new TestPartition();
  partition.submit({ priority: 7 }, { priority: 2 }, { priority: 7 });

  patch(partition, { number: 2, priority: 7 });
  partition.attach({ slots: 9 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([1, 3, 2]);
});

test('PATCH, the same priority: the tail of its level too', () => {
  const partition = new TestPartition();
  partition.submit({}, {});

  patch(partition, { number: 1, priority: 4 });
  partition.attach({ slots: 9 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([2, 1]);
});

test('PATCH, future runAt: waiting', () => {
  const partition = new TestPartition();
  partition.submit({});

  patch(partition, { number: 1, runAt: partition.now + 500 });
  partition.attach();
  const before = partition.task(1);
  passTime(partition, 500);

  expect(before).toMatchObject({ state: 'waiting', reason: 'delayed' });
  expect(partition.pushes).toMatchObject([{ task: 1 }]);
});

test('PATCH, past runAt or null: queued at once, and given out in the same turn', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 9000 }, { delayMs: 9000 });
  partition.attach({ slots: 9 });

  patch(partition, { number: 1, runAt: partition.now - 500 }, { number: 2, runAt: null });

  expect(partition.pushes.map(({ task }) => task)).toEqual([1, 2]);
});

test('PATCH, past runAt: a task that is queued keeps its place', () => {
  const partition = new TestPartition();
  partition.submit({}, {});

  patch(partition, { number: 1, runAt: 1 });
  partition.attach({ slots: 9 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([1, 2]);
});

test('PATCH of a paused task takes effect when it is resumed', () => {
  const partition = new TestPartition();
  partition.submit({}, { priority: 8 });
  for (const number of [1, 2]) {
    partition.operate<PauseTask>({ type: 'pause_task', id: partition.id(number) });
  }

  patch(partition, { number: 1, priority: 0, runAt: partition.now + 500 });
  const paused = partition.task(1).state;
  partition.operate<ResumeTask>({ type: 'resume_task', id: partition.id(1) });

  expect([paused, partition.task(1).state, partition.task(1).priority]).toEqual([
    'paused',
    'waiting',
    0,
  ]);
});

test('PATCH, input: replaced, and the old one is let go', () => {
  const partition = new TestPartition();
  partition.submit({ input: '"a long one"' }, { input: '2' });

  patch(partition, { number: 1, input: '3' }, { number: 2, input: '' });

  expect(partition.task(1).input).toHaveLength(1);
  expect(partition.task(2).input).toEqual([]);
  expect(partition.state.payloads.liveBytes).toBe(1);
});

test('PATCH is a JSON merge patch: what is absent stays, null clears', () => {
  const partition = new TestPartition();
  const timeouts = { queueMs: 50_000, runMs: 60_000 };
  partition.submit({ tags: { a: '1', b: '2' }, timeouts, input: '1', priority: 8 });

  patch(partition, { number: 1, tags: { a: null, c: '3' }, timeouts: { runMs: null } });
  const merged = partition.task(1);
  patch(partition, { number: 1, tags: null, timeouts: null, priority: null });

  expect(merged).toMatchObject({ tags: '{"b":"2","c":"3"}', timeouts: '{"queueMs":50000}' });
  expect(merged).toMatchObject({ priority: 8, input: [0x31] });
  expect(partition.task(1)).toMatchObject({ tags: '', timeouts: '', priority: 4 });
});

test('PATCH, timeouts: the deadline moves, in either direction', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { totalMs: 500 } }, {});

  patch(
    partition,
    { number: 1, timeouts: { totalMs: 900 } },
    { number: 2, timeouts: { totalMs: 300 } },
  );
  passTime(partition, 500);

  expect([partition.task(1).state, partition.task(2).state]).toEqual(['queued', 'expired']);
});

test('PATCH, leased or running: task_running; terminal: task_finished; unknown: not found', () => {
  const { partition, session, lease } = leasedTask();
  const leased = patch(partition, { number: 1, priority: 1 });
  partition.report(session, { lease, kind: 'succeeded' });

  expect(leased).toEqual(['task_running']);
  expect(patch(partition, { number: 1, priority: 1 })).toEqual(['task_finished']);
  expect(patch(partition, { id: 't_none', priority: 1 })).toEqual(['task_not_found']);
});

test('PATCH of many: an outcome per item, and the good ones are done', () => {
  const { partition } = leasedTask();
  partition.submit({}, {});

  const outcomes = patch(
    partition,
    { number: 1, priority: 1 },
    { number: 2, priority: 1 },
    { id: 't_none', priority: 1 },
    { number: 3, priority: 1 },
  );

  expect(outcomes).toEqual(['task_running', undefined, 'task_not_found', undefined]);
  expect([partition.task(2).priority, partition.task(3).priority]).toEqual([1, 1]);
});

test('PATCH: a task has at most 32 tags, and one with too many stays as it was', () => {
  const partition = new TestPartition();
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`t${n}`, 'x']));
  partition.submit({ tags: many });

  const outcomes = patch(partition, { number: 1, priority: 8, tags: { extra: 'y' } });

  expect(outcomes).toEqual(['too_many_tags']);
  expect(partition.task(1).priority).toBe(4);
});

test('PATCH: bytes that memory has no room for are refused (L9)', () => {
  const partition = new TestPartition({ payloadBytesMax: 100 });
  partition.submit({});

  expect(patch(partition, { number: 1, input: 'x'.repeat(101) })).toEqual(['too_many_bytes']);
});

test('PATCH that says nothing changes nothing', () => {
  const partition = new TestPartition();
  partition.submit({});
  const before = partition.log().length;

  expect(patch(partition, { number: 1 })).toEqual([undefined]);
  expect(partition.log()).toHaveLength(before);
});

test('PATCH: what takes no more bytes is never refused for them', () => {
  const partition = new TestPartition({ payloadBytesMax: 320 });
  partition.submit({ input: '"a long input"', tags: { a: 'x'.repeat(30) } });
  expect(partition.submit({ input: '"more"' }).rejection).toBe('too_many_bytes');

  const outcomes = patch(
    partition,
    { number: 1, priority: 8 },
    { number: 1, input: '"short"' },
    { number: 1, tags: null },
  );

  expect(outcomes).toEqual([undefined, undefined, undefined]);
});

type TestPatch = Omit<TaskPatch, 'id'> & { number?: number; id?: string; input?: string };

function patch(partition: TestPartition, ...patches: TestPatch[]): (string | undefined)[] {
  const { bytes, ends } = joined(patches.map(({ input }) => input ?? ''));
  const { outcomes } = partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: patches.map(({ number, input, id, ...rest }) => ({
      id: id ?? partition.id(number ?? 0),
      hasInput: input !== undefined,
      ...rest,
    })),
    inputs: bytes,
    inputEnds: ends,
  });
  return outcomes.map(({ rejection }) => rejection);
}
