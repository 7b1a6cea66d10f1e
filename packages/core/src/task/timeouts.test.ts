import { expect, test } from 'vitest';
import { leasedTask, passTime } from '../testing/leased-task.ts';
import { LEASE_MS, TestPartition } from '../testing/test-partition.ts';
import { parseTimeouts, statedTimeouts, timeoutsText } from './timeouts.ts';

const NO_RETRY = { maxAttempts: 1 };
const SOON = { maxAttempts: 2, backoff: 'fixed', delayMs: 100, jitter: false } as const;

test('queueMs: a task that nobody takes in time is expired, and not before', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { queueMs: 500 } });

  passTime(partition, 499);
  const before = partition.task(1).state;
  passTime(partition, 1);

  expect(before).toBe('queued');
  expect(partition.task(1)).toMatchObject({ state: 'expired', reason: 'queue_timeout' });
  expect(partition.ended).toEqual([1]);
});

test('queueMs counts from when the task joins its queue, each time anew', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 1000, timeouts: { queueMs: 500 }, retry: SOON });
  passTime(partition, 1000);
  passTime(partition, 400);
  const { session } = partition.attach();
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'failed' });
  partition.detach(session);

  passTime(partition, 100);
  passTime(partition, 499);
  const before = partition.task(1).state;
  passTime(partition, 1);

  expect([before, partition.task(1).state]).toEqual(['queued', 'expired']);
});

test('totalMs while not leased: the task is expired, waiting or queued', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { totalMs: 500 } }, { delayMs: 900, timeouts: { totalMs: 500 } });

  passTime(partition, 499);
  const before = [partition.task(1).state, partition.task(2).state];
  passTime(partition, 1);

  expect(before).toEqual(['queued', 'waiting']);
  for (const number of [1, 2]) {
    expect(partition.task(number)).toMatchObject({ state: 'expired', reason: 'total_timeout' });
  }
});

test('totalMs while leased: the task timed out, without a retry, and its worker is told', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { totalMs: 500 }, retry: SOON });

  passTime(partition, 500);

  expect(partition.task(1)).toMatchObject({ state: 'timed_out', reason: 'total_timeout' });
  expect(partition.cancels).toEqual([
    { session, task: 1, lease, reason: 'total_timeout', graceMs: 0 },
  ]);
  expect(partition.heldBy(session)).toEqual([]);
  expect(partition.report(session, { lease, kind: 'succeeded' }).outcomes).toEqual(['stale_lease']);
});

test('runMs: the worker gets cancel with the reason and 10 s, and has its lease until then', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 2000 }, retry: SOON });

  passTime(partition, 1999);
  const before = partition.cancels;
  passTime(partition, 1);

  expect(before).toEqual([]);
  expect(partition.cancels).toEqual([
    { session, task: 1, lease, reason: 'run_timeout', graceMs: 10_000 },
  ]);
  expect(partition.heldBy(session)).toEqual([1]);
});

test('runMs counts from the lease, whatever is heard meanwhile', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 2000 } });
  partition.now += 1500;
  partition.report(session, { lease, kind: 'started' }, { lease, kind: 'heartbeat' });

  passTime(partition, 500);

  expect(partition.cancels).toHaveLength(1);
});

test('runMs: after the grace the lease is revoked, and the task retried after its backoff', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 2000 }, retry: SOON });
  passTime(partition, 2000);
  partition.report(session);

  passTime(partition, 9999);
  const before = partition.heldBy(session);
  passTime(partition, 1);

  expect(before).toEqual([1]);
  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'run_timeout', attempt: 1 });
  expect(partition.report(session, { lease, kind: 'succeeded' }).outcomes).toEqual(['stale_lease']);
  passTime(partition, 100);
  expect(partition.pushes).toMatchObject([{ session, task: 1 }]);
  expect(partition.task(1).attempt).toBe(2);
});

test('runMs: the room of a revoked lease goes to the next task in the same turn', () => {
  const { partition, session } = leasedTask({ timeouts: { runMs: 2000 } });
  partition.submit({});
  passTime(partition, 2000);

  passTime(partition, 10_000);

  expect(partition.pushes).toMatchObject([{ session, task: 2 }]);
});

test('runMs: when no attempt is left the task timed out', () => {
  const { partition } = leasedTask({ timeouts: { runMs: 2000 }, retry: NO_RETRY });
  passTime(partition, 2000);

  passTime(partition, 10_000);

  expect(partition.task(1)).toMatchObject({ state: 'timed_out', reason: 'run_timeout' });
  expect(partition.ended).toEqual([1]);
});

test('a worker that succeeds in the grace after a time-out has succeeded', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 2000 } });
  passTime(partition, 2000);

  const { outcomes } = partition.report(session, { lease, kind: 'succeeded', payload: '1' });

  expect(outcomes).toEqual(['ok']);
  expect(partition.task(1)).toMatchObject({ state: 'succeeded', timerAt: null });
});

test.each(['failed', 'cancelled', 'later'] as const)(
  'a worker that reports %s in the grace after a time-out has timed out, and keeps its error',
  (kind) => {
    const { partition, session, lease } = leasedTask({ timeouts: { runMs: 9 }, retry: SOON });
    passTime(partition, 9);

    const { outcomes } = partition.report(session, { lease, kind, payload: '"slow"' });
    const again = partition.report(session, { lease, kind, payload: '"slow"' });

    expect([outcomes, again.outcomes]).toEqual([['ok'], ['duplicate']]);
    expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'run_timeout' });
    expect(partition.task(1).result).toHaveLength(6);
  },
);

test('heartbeatMs: silence of reports that name the lease, others do not count', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { heartbeatMs: 1000 } });
  partition.now += 900;
  partition.report(session, { lease, kind: 'heartbeat' });
  partition.now += 900;
  partition.report(session);

  passTime(partition, 99);
  const before = partition.cancels;
  passTime(partition, 1);

  expect(before).toEqual([]);
  expect(partition.cancels).toEqual([
    { session, task: 1, lease, reason: 'heartbeat_timeout', graceMs: 10_000 },
  ]);
});

test('heartbeatMs: progress and a start are heard too', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { heartbeatMs: 1000 } });
  for (const kind of ['started', 'progress', 'progress'] as const) {
    passTime(partition, 999);
    partition.report(session, { lease, kind });
  }

  passTime(partition, 999);

  expect(partition.cancels).toEqual([]);
});

test('heartbeatMs: after the grace the lease is revoked, then retry', () => {
  const { partition, session } = leasedTask({ timeouts: { heartbeatMs: 1000 }, retry: SOON });
  passTime(partition, 1000);
  partition.report(session);

  passTime(partition, 10_000);

  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'heartbeat_timeout' });
});

test('after a restart no silence counts before the grace period is over (L7)', () => {
  const { partition, session } = leasedTask({ timeouts: { heartbeatMs: 1000 } });
  partition.now += 100 * LEASE_MS;
  partition.restart(2 * LEASE_MS);

  passTime(partition, 2 * LEASE_MS + 999);
  const before = partition.task(1).stop;
  passTime(partition, 1);

  expect([before, partition.task(1).stop]).toEqual(['', 'heartbeat_timeout']);
  expect(partition.heldBy(session)).toEqual([1]);
});

test('a server that was not there to listen lets every lease be silent from then on', () => {
  const { partition } = leasedTask({ timeouts: { heartbeatMs: 1000 } });
  partition.now += 900;
  partition.hear();

  passTime(partition, 999);

  expect(partition.cancels).toEqual([]);
});

test('a worker that comes back is told again what it has to stop, and how long it has', () => {
  const { partition, session, connection, lease } = leasedTask({ timeouts: { runMs: 2000 } });
  partition.disconnect(session, connection);
  passTime(partition, 2000);
  const whileAway = partition.cancels;
  partition.now += 3000;

  partition.resume(session, [lease]);

  expect(whileAway).toEqual([]);
  expect(partition.cancels).toMatchObject([{ task: 1, reason: 'run_timeout', graceMs: 7000 }]);
});

test('timers never fire early, and one that has no deadline has none', () => {
  const { partition, session, lease } = leasedTask({
    timeouts: { queueMs: 5000, runMs: 6000, totalMs: 7000 },
  });
  expect(partition.task(1).timerAt).toBe(partition.now + 6000);

  partition.report(session, { lease, kind: 'succeeded' });
  passTime(partition, 100_000);

  expect(partition.task(1)).toMatchObject({ state: 'succeeded', timerAt: null });
});

test('the same timeouts have the same text, and none has the empty one', () => {
  expect(timeoutsText({ runMs: 5, queueMs: 1 })).toBe(timeoutsText({ queueMs: 1, runMs: 5 }));
  expect([timeoutsText({}), timeoutsText(undefined)]).toEqual(['', '']);
  expect(statedTimeouts(timeoutsText({ runMs: 5 }))).toEqual({ runMs: 5 });
  expect(parseTimeouts('').runMs).toBe(Number.POSITIVE_INFINITY);
});

test('after a restart no lease is revoked before the grace period is over (L7)', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 60_000 } });
  partition.now += 55_000;
  partition.restart(30_000);

  passTime(partition, 20_000);
  const { lost } = partition.resume(session, [lease]);
  const { outcomes } = partition.report(session, { lease, kind: 'succeeded' });

  expect([lost, outcomes]).toEqual([[], ['ok']]);
});

test('a stop that nobody could hear has a grace of its own after a restart (L7)', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 1000 } });
  passTime(partition, 1000);
  partition.now += 60_000;
  partition.restart(30_000);
  passTime(partition, 29_999);
  const before = partition.heldBy(session);

  partition.resume(session, [lease]);
  const told = partition.cancels;
  passTime(partition, 10_000);
  const inGrace = partition.heldBy(session);
  passTime(partition, 1);

  expect([before, inGrace, partition.heldBy(session)]).toEqual([[1], [1], []]);
  expect(told).toMatchObject([{ reason: 'run_timeout', graceMs: 10_001 }]);
});

test('a server that was stopped for a while revokes nothing before workers can be heard', () => {
  const { partition, session } = leasedTask({ timeouts: { runMs: 1000 } });
  passTime(partition, 1000);
  partition.now += 60_000;
  partition.hear();

  passTime(partition, 0);

  expect(partition.heldBy(session)).toEqual([1]);
});

test('a resume is a sign of life of the leases that it lists', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { heartbeatMs: 1000 } });
  partition.now += 900;
  partition.resume(session, [lease]);

  passTime(partition, 999);

  expect(partition.cancels).toEqual([]);
});

test('a task whose time is over when its delay ends is expired, not handed out', () => {
  const partition = new TestPartition();
  partition.attach();
  partition.submit({ delayMs: 10, timeouts: { totalMs: 20 } });

  passTime(partition, 1000);

  expect(partition.pushes).toEqual([]);
  expect(partition.task(1)).toMatchObject({ state: 'expired', reason: 'total_timeout' });
});

test('a last word after a time-out says when the attempt began', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 1000 } });
  const startedAt = partition.now + 7;
  passTime(partition, 1000);

  partition.report(session, { lease, kind: 'failed', startedAt });

  expect(partition.task(1).startedAt).toBe(startedAt);
});
