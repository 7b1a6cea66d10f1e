import { expect, test } from 'vitest';
import { decodeBatch } from '../../testing/decode-batch.ts';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { SetQueuePaused } from '../queues/set-queue-paused.ts';
import type { PauseTask, ResumeTask } from './pause-tasks.ts';

test('pause, waiting or queued: the task is held until it is resumed', () => {
  const partition = new TestPartition();
  partition.submit({}, { delayMs: 500 });

  expect([pause(partition, 1), pause(partition, 2)]).toEqual([undefined, undefined]);
  partition.attach({ slots: 9 });
  passTime(partition, 1000);

  expect(partition.pushes).toEqual([]);
  expect([partition.task(1).state, partition.task(2).state]).toEqual(['paused', 'paused']);
});

test('resume: a task that was queued, or is due by now, goes to the head of its level', () => {
  const partition = new TestPartition();
  partition.submit({}, {}, { delayMs: 500 }, {});
  pause(partition, 2);
  pause(partition, 3);
  partition.now += 1000;

  resume(partition, 2);
  resume(partition, 3);
  partition.attach({ slots: 9 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([3, 2, 1, 4]);
});

test('resume: a task whose time is yet to come waits for it', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 500 });
  const dueAt = partition.now + 500;
  pause(partition, 1);
  partition.now += 300;

  resume(partition, 1);

  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'resumed', dueAt });
});

test('pause: queueMs stops and goes on where it was, totalMs does not', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { queueMs: 500 } }, { timeouts: { totalMs: 500 } });
  partition.now += 400;
  pause(partition, 1);
  pause(partition, 2);
  passTime(partition, 99);
  const before = partition.task(2).state;
  passTime(partition, 1);
  const total = partition.task(2);

  resume(partition, 1);
  passTime(partition, 99);
  const left = partition.task(1).state;
  passTime(partition, 1);

  expect([before, total.state, total.reason]).toEqual(['paused', 'expired', 'total_timeout']);
  expect([left, partition.task(1).reason]).toEqual(['queued', 'queue_timeout']);
});

test('pause and resume, leased or running: task_running; terminal: task_finished', () => {
  const { partition, session, lease } = leasedTask();
  const leased = [pause(partition, 1), resume(partition, 1)];
  partition.report(session, { lease, kind: 'succeeded' });
  const over = [pause(partition, 1), resume(partition, 1)];

  expect(leased).toEqual(['task_running', 'task_running']);
  expect(over).toEqual(['task_finished', 'task_finished']);
});

test('a second pause or resume changes nothing', () => {
  const partition = new TestPartition();
  partition.submit({});
  resume(partition, 1);
  pause(partition, 1);
  const before = partition.log().length;

  pause(partition, 1);

  expect(partition.log().length).toBe(before);
});

test('a paused queue gives out nothing, and is filled all the same', () => {
  const partition = new TestPartition();
  partition.submit({});
  setPaused(partition, true);
  partition.submit({}, { type: 'other' });

  partition.attach({ types: ['hello', 'other'], slots: 9 });

  expect(partition.pushes.map(({ task }) => task)).toEqual([3]);
  expect(partition.task(1).state).toBe('queued');
});

test('a queue that is resumed gives out its tasks in the same turn, as before by level', () => {
  const partition = new TestPartition();
  setPaused(partition, true);
  partition.submit({}, { priority: 8 });
  partition.attach({ slots: 9 });

  setPaused(partition, false);

  expect(partition.pushes.map(({ task }) => task)).toEqual([2, 1]);
});

test('a paused queue takes nothing away from a worker, and gives it nothing more', () => {
  const { partition, session, lease } = leasedTask({ retry: { delaysMs: [0] } });
  partition.submit({});
  setPaused(partition, true);

  partition.report(session, { lease, kind: 'failed' });
  passTime(partition, 0);

  expect(partition.heldBy(session)).toEqual([]);
  expect([partition.task(1).state, partition.task(2).state]).toEqual(['queued', 'queued']);
});

test('pausing a queue is one event, however many tasks it holds', () => {
  const partition = new TestPartition({ tasksMax: 1000 });
  for (let i = 0; i < 10; i++) partition.submit(...Array.from({ length: 100 }, () => ({})));
  const before = partition.log().flatMap(decodeBatch).length;

  setPaused(partition, true);
  setPaused(partition, true);

  const after = partition.log().flatMap(decodeBatch).slice(before);
  const types = after.flatMap(({ events }) => events.map(({ type }) => type));
  expect(types.filter((type) => type !== 'state_hashed')).toEqual(['queue_changed']);
});

test('a queue can be paused before it has ever had a task, and stays so after a restart', () => {
  const partition = new TestPartition();
  setPaused(partition, true);

  partition.restart();
  partition.attach();
  partition.submit({});

  expect(partition.pushes).toEqual([]);
});

function pause(partition: TestPartition, number: number): string | undefined {
  const id = partition.id(number);
  return partition.operate<PauseTask>({ type: 'pause_task', id }).rejection;
}

function resume(partition: TestPartition, number: number): string | undefined {
  const id = partition.id(number);
  return partition.operate<ResumeTask>({ type: 'resume_task', id }).rejection;
}

function setPaused(partition: TestPartition, paused: boolean): void {
  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'hello', paused });
}
