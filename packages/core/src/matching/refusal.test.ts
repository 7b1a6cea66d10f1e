import { expect, test } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import type { CancelTasks } from '../commands/tasks/cancel-tasks.ts';
import { TestPartition } from '../testing/test-partition.ts';

test('refused: no attempt is spent, head of its level', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { maxAttempts: 1 } }, {}, { priority: 8 });

  const outcomes = [];
  for (let n = 0; n < 3; n++) outcomes.push(...refuse(partition, session));
  const { state, reason, attempt } = partition.task(1);
  partition.attach({ slots: 9 });

  expect(outcomes).toEqual(['ok', 'ok', 'ok']);
  expect({ state, reason, attempt }).toEqual({ state: 'queued', reason: 'refused', attempt: 0 });
  expect(partition.pushes.map(({ task }) => task)).toEqual([3, 2, 1]);
  expect(partition.task(1).attempt).toBe(1);
});

test('the same refusal again is a duplicate, and another report on that lease is stale', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  const [lease] = partition.leasesOf(session);
  partition.report(session, { kind: 'refused', lease });

  const { outcomes } = partition.report(
    session,
    { kind: 'refused', lease },
    { kind: 'succeeded', lease },
  );

  expect(outcomes).toEqual(['duplicate', 'stale_lease']);
});

test('a worker is not given at once what it refused, and another one is', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2 });
  const other = partition.attach({ slots: 1 }).session;
  partition.submit({});
  partition.submit({});
  const [lease] = partition.leasesOf(session);
  partition.report(other, { kind: 'succeeded', lease: partition.leasesOf(other)[0] });

  partition.report(session, { kind: 'refused', lease });

  expect(partition.heldBy(session)).toEqual([]);
  expect(partition.heldBy(other)).toEqual([1]);
});

test('what waits behind a refused task, or comes after it, is given to the same worker', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 1 });
  partition.submit({}, {});

  refuse(partition, session);
  const next = partition.heldBy(session);
  refuse(partition, session);
  partition.submit({});

  expect(next).toEqual([2]);
  expect(partition.heldBy(session)).toEqual([3]);
});

test('a lone worker is given the task again after a second, without being asked meanwhile', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  refuse(partition, session);
  const alarmAt = partition.nextTimerAt;

  partition.now += 999;
  partition.advance();
  const early = partition.heldBy(session);
  partition.now += 1;
  partition.advance();

  expect(alarmAt).toBe(partition.now);
  expect(early).toEqual([]);
  expect(partition.heldBy(session)).toEqual([1]);
  expect(partition.task(1).attempt).toBe(1);
});

test('a worker that changes its offer is asked again at once', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  refuse(partition, session);

  partition.reportWith(session, [], { slots: 2 });

  expect(partition.heldBy(session)).toEqual([1]);
});

test('a worker that refuses everything is left alone after a hundred, for a moment', () => {
  const partition = new TestPartition({ tasksMax: 200 });
  const { session } = partition.attach({ slots: 150 });
  partition.submit(...Array.from({ length: 150 }, () => ({})));

  const leases = partition.leasesOf(session).slice(0, 100);
  partition.report(session, ...leases.map((lease) => ({ kind: 'refused' as const, lease })));
  partition.submit({});
  const during = partition.task(151).state;
  partition.now += 1000;
  partition.advance();

  expect(during).toBe('queued');
  expect(partition.heldBy(session)).toHaveLength(150);
});

test('a refused task that is being cancelled ends as cancelled', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  const ids = [partition.id(1)];
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 1000 });

  refuse(partition, session);

  expect(partition.task(1).state).toBe('cancelled');
});

/** The worker refuses the oldest task that it holds. */
function refuse(partition: TestPartition, session: SessionId): readonly string[] {
  const [lease] = partition.leasesOf(session);
  return partition.report(session, { kind: 'refused', lease }).outcomes;
}
