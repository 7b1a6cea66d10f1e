import { expect, test } from 'vitest';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { EndTask } from './end-task.ts';
import type { RetryTasks } from './retry-tasks.ts';
import type { SignalTask } from './signal-task.ts';

test('later: the worker is free, the task runs on, and complete ends it', () => {
  const { partition, session, lease } = leasedTask();
  partition.submit({});

  const { outcomes } = partition.report(session, { lease, kind: 'later' });
  const running = partition.task(1);
  const pushes = partition.pushes.map(({ task }) => task);
  const rejection = end(partition, 1, 'succeeded');

  expect(outcomes).toEqual(['ok']);
  expect(running).toMatchObject({ state: 'running', reason: 'later', attempt: 1 });
  expect(pushes).toEqual([2]);
  expect(rejection).toBeUndefined();
  expect(partition.task(1)).toMatchObject({ state: 'succeeded', reason: 'ended_outside' });
  expect(partition.task(1).result).toHaveLength(5);
  expect(partition.ended).toEqual([1]);
});

test('later: the same report again is a duplicate, another one is stale', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'later' });

  const again = partition.report(session, { lease, kind: 'later' }, { lease, kind: 'succeeded' });

  expect(again.outcomes).toEqual(['duplicate', 'stale_lease']);
});

test('later: the loss of the worker does not matter any more', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'later' });

  partition.detach(session);
  partition.restart();

  expect(partition.task(1).state).toBe('running');
});

test('later: runMs and totalMs still hold, without anybody to ask', () => {
  const retry = { maxAttempts: 2, delaysMs: [50], jitter: false };
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 500 }, retry });
  partition.report(session, { lease, kind: 'later' });
  passTime(partition, 500);
  const waiting = partition.task(1);
  const total = leasedTask({ timeouts: { totalMs: 500 } });
  total.partition.report(total.session, { lease: total.lease, kind: 'later' });

  passTime(total.partition, 500);

  expect(waiting).toMatchObject({ state: 'waiting', reason: 'run_timeout' });
  expect(total.partition.task(1)).toMatchObject({ state: 'timed_out', reason: 'total_timeout' });
});

test('later: a cancel ends the task at once', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'later' });

  cancel(partition, 1);

  expect(partition.task(1).state).toBe('cancelled');
});

test('complete and fail: an operator ends any task, waiting, queued or leased', () => {
  const { partition } = leasedTask();
  partition.submit({}, { delayMs: 900 });

  const outcomes = [1, 2, 3].map((number) => end(partition, number, 'failed'));

  expect(outcomes).toEqual([undefined, undefined, undefined]);
  for (const number of [1, 2, 3]) {
    expect(partition.task(number)).toMatchObject({ state: 'failed', reason: 'ended_outside' });
  }
});

test('complete of a leased task: its worker is told, its lease is over, its room is used', () => {
  const { partition, session, lease } = leasedTask();
  partition.submit({});

  end(partition, 1, 'succeeded');

  expect(partition.cancels).toMatchObject([{ lease, reason: 'ended_outside', graceMs: 0 }]);
  expect(partition.pushes).toMatchObject([{ session, task: 2 }]);
  expect(partition.report(session, { lease, kind: 'succeeded' }).outcomes).toEqual(['stale_lease']);
});

test('complete of a task that is being cancelled: cancelled, without an output', () => {
  const { partition } = leasedTask();
  cancel(partition, 1);

  end(partition, 1, 'succeeded');

  expect(partition.task(1)).toMatchObject({ state: 'cancelled', reason: 'cancelled', result: [] });
});

test('complete and fail, terminal: task_finished; unknown: not found', () => {
  const partition = new TestPartition();
  partition.submit({});
  cancel(partition, 1);

  expect(end(partition, 1, 'succeeded')).toBe('task_finished');
  const payload = new Uint8Array(0);
  const nobody = { type: 'end_task', id: 't_none', outcome: 'failed', payload } as const;
  expect(partition.operate<EndTask>(nobody).rejection).toBe('task_not_found');
});

test('the same request again is answered as at first, also after a retry', () => {
  const partition = new TestPartition();
  partition.submit({});
  expect(end(partition, 1, 'failed', 77)).toBeUndefined();
  const logged = partition.log().length;

  expect(end(partition, 1, 'failed', 77)).toBeUndefined();
  expect(end(partition, 1, 'failed', 78)).toBe('task_finished');
  expect(partition.log()).toHaveLength(logged);
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });
  const again = end(partition, 1, 'failed', 77);

  expect(again).toBeUndefined();
  expect(partition.task(1).state).toBe('queued');
  expect(end(partition, 1, 'failed', 78)).toBeUndefined();
  expect(partition.task(1).state).toBe('failed');
});

test('signal reaches the worker that holds the task, and nothing is logged', () => {
  const { partition, session, lease } = leasedTask();
  const before = partition.log().length;

  const rejection = signal(partition, 1);

  expect(rejection).toBeUndefined();
  expect(partition.signals).toEqual([{ session, task: 1, lease, name: 'change', data: '{"n":1}' }]);
  expect(partition.log()).toHaveLength(before);
});

test('signal, nobody holds the task: task_not_leased; its worker is away: unreachable', () => {
  const { partition, session, connection, lease } = leasedTask();
  partition.submit({});
  partition.disconnect(session, connection);
  const away = signal(partition, 1);
  partition.resume(session, [lease]);
  partition.report(session, { lease, kind: 'later' });

  expect(away).toBe('worker_unreachable');
  expect(signal(partition, 1)).toBe('task_not_leased');
  expect(partition.signals).toEqual([]);
});

test('complete is taken as long as anything is, however full memory is (L9)', () => {
  const partition = new TestPartition({ payloadBytesMax: 4 });
  partition.submit({ input: '1234' });

  expect(end(partition, 1, 'succeeded')).toBeUndefined();
});

test('later: a resend is a duplicate also when the task has run out of time since', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 100 } });
  partition.report(session, { lease, kind: 'later' });
  passTime(partition, 100);

  expect(partition.report(session, { lease, kind: 'later' }).outcomes).toEqual(['duplicate']);
});

test('signals to a worker that does not read are refused in the end (L9)', () => {
  const { partition } = leasedTask();
  const outcomes = Array.from({ length: 1000 }, () => signal(partition, 1));

  expect(outcomes[0]).toBeUndefined();
  expect(outcomes.at(-1)).toBe('worker_unreachable');
});

test('a worker that has too many signals to read gets no task before it has read them (L9)', () => {
  const partition = new TestPartition();
  const { session, connection } = partition.attach({ capacity: { slots: 2 } });
  partition.submit({});
  while (signal(partition, 1) === undefined);

  partition.submit({});
  const pushed = partition.pushes.length;
  partition.read(session, connection, 1e9);

  expect(pushed).toBe(0);
  expect(partition.pushes).toHaveLength(1);
});

function end(
  partition: TestPartition,
  number: number,
  outcome: 'succeeded' | 'failed',
  key = 0,
): string | undefined {
  const payload = testUtf8.encode('"out"');
  const id = partition.id(number);
  return partition.operate<EndTask>({ type: 'end_task', id, outcome, payload, key }).rejection;
}

function cancel(partition: TestPartition, number: number): void {
  const ids = [partition.id(number)];
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 5000 });
}

function signal(partition: TestPartition, number: number): string | undefined {
  const data = testUtf8.encode('{"n":1}');
  const id = partition.id(number);
  const command = { type: 'signal_task', id, name: 'change', data } as const;
  return partition.operate<SignalTask>(command).rejection;
}
