import { expect, test } from 'vitest';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { LEASE_MS, TestPartition } from '../../testing/test-partition.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { PauseTask } from './pause-tasks.ts';
import type { RetryTasks } from './retry-tasks.ts';

test('cancel, not leased: the task has ended at once, queued, waiting or paused', () => {
  const partition = new TestPartition();
  partition.submit({}, { delayMs: 900 }, {});
  partition.operate<PauseTask>({ type: 'pause_task', id: partition.id(3) });

  const outcomes = cancel(partition, 1, 2, 3);

  expect(outcomes).toEqual([undefined, undefined, undefined]);
  for (const number of [1, 2, 3]) {
    expect(partition.task(number)).toMatchObject({ state: 'cancelled', reason: 'cancelled' });
  }
  expect(partition.ended).toEqual([1, 2, 3]);
});

test('cancel, leased: the worker is told, and has its grace', () => {
  const { partition, session, lease } = leasedTask();

  cancel(partition, 1);

  expect(partition.cancels).toEqual([
    { session, task: 1, lease, reason: 'cancelled', graceMs: 5000 },
  ]);
  expect(partition.task(1)).toMatchObject({ state: 'leased', cancelAskedAt: partition.now });
  expect(partition.ended).toEqual([]);
});

test('cancel, running: after the grace the lease is revoked', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'started' });
  cancel(partition, 1);

  passTime(partition, 4999);
  const before = partition.task(1).state;
  passTime(partition, 1);

  expect([before, partition.task(1).state]).toEqual(['running', 'cancelled']);
  expect(partition.report(session, { lease, kind: 'succeeded' }).outcomes).toEqual(['stale_lease']);
});

test.each(['succeeded', 'failed', 'cancelled', 'later'] as const)(
  'from the acknowledgement on the end is cancelled, also when %s is reported, with its payload',
  (kind) => {
    const { partition, session, lease } = leasedTask();
    cancel(partition, 1);

    const { outcomes } = partition.report(session, { lease, kind, payload: '"it"' });
    const again = partition.report(session, { lease, kind, payload: '"it"' });

    expect([outcomes, again.outcomes]).toEqual([['ok'], ['duplicate']]);
    expect(partition.task(1)).toMatchObject({ state: 'cancelled', reason: 'cancelled' });
    expect(partition.task(1).result).toHaveLength(4);
  },
);

test('a task that is being cancelled is cancelled when its worker is lost, or never had it', () => {
  const lost = leasedTask();
  cancel(lost.partition, 1);
  lost.partition.now += LEASE_MS;
  lost.partition.expire();
  const returned = leasedTask();
  cancel(returned.partition, 1);
  returned.partition.resume(returned.session, []);

  expect(lost.partition.task(1).state).toBe('cancelled');
  expect(returned.partition.task(1).state).toBe('cancelled');
});

test('a worker that has just connected again hears of the cancel that it missed', () => {
  const { partition, session, connection, lease } = leasedTask();
  partition.disconnect(session, connection);
  cancel(partition, 1);
  const whileAway = partition.cancels;
  partition.now += 2000;

  partition.resume(session, [lease]);

  expect(whileAway).toEqual([]);
  expect(partition.cancels).toMatchObject([{ lease, reason: 'cancelled', graceMs: 3000 }]);
});

test('a second cancel neither asks again nor extends the grace', () => {
  const { partition } = leasedTask();
  cancel(partition, 1);
  const askedAt = partition.now;
  partition.now += 1000;

  const outcomes = cancel(partition, 1);

  expect(outcomes).toEqual([undefined]);
  expect(partition.cancels).toEqual([]);
  expect(partition.task(1)).toMatchObject({ stopAt: askedAt + 5000, cancelAskedAt: askedAt });
});

test('a cancel takes over from a time-out', () => {
  const { partition } = leasedTask({ timeouts: { runMs: 100 }, retry: { maxAttempts: 9 } });
  passTime(partition, 100);

  cancel(partition, 1);
  passTime(partition, 5000);

  expect(partition.task(1).state).toBe('cancelled');
});

test('cancel, terminal: task_finished; already cancelled: fine', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'succeeded' });
  partition.submit({ type: 'other' });
  cancel(partition, 2);

  expect(cancel(partition, 1, 2)).toEqual(['task_finished', undefined]);
  expect(partition.ended).toEqual([]);
});

test('a task that nobody knows is not found, alone among others', () => {
  const partition = new TestPartition();
  partition.submit({});

  const { outcomes } = partition.operate<CancelTasks>({
    type: 'cancel_tasks',
    ids: ['t_nonsense', partition.id(1)],
    graceMs: 0,
  });

  expect(outcomes.map(({ rejection }) => rejection)).toEqual(['task_not_found', undefined]);
});

test('after an acknowledged cancel nothing is given to a worker again', () => {
  const { partition, session } = leasedTask({ retry: { maxAttempts: 9 } });
  cancel(partition, 1);
  partition.detach(session);

  partition.attach();
  passTime(partition, 100_000);

  expect(partition.pushes).toEqual([]);
  expect(partition.task(1).state).toBe('cancelled');
});

test('a cancelled task that is retried knows nothing of the cancel', () => {
  const { partition, session, lease } = leasedTask();
  cancel(partition, 1);
  partition.report(session, { lease, kind: 'cancelled' });

  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });

  expect(partition.task(1)).toMatchObject({ state: 'leased', cancelAskedAt: 0, stop: '' });
});

function cancel(partition: TestPartition, ...numbers: number[]): (string | undefined)[] {
  const ids = numbers.map((number) => partition.id(number));
  const command = { type: 'cancel_tasks', ids, graceMs: 5000 } as const;
  return partition.operate<CancelTasks>(command).outcomes.map(({ rejection }) => rejection);
}
