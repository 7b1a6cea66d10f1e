import { expect, test } from 'vitest';
import { leasedTask } from '../../testing/leased-task.ts';

test('progress is kept with the lease, the newest word of it, and is not logged', () => {
  const { partition, session, lease } = leasedTask();
  const before = partition.log().length;

  const { outcomes } = partition.report(
    session,
    { lease, kind: 'progress', fraction: 0.2, message: 'one' },
    { lease, kind: 'progress', fraction: 0.5, message: 'two' },
  );

  expect(outcomes).toEqual(['ok', 'ok']);
  expect(partition.progressOf(1)).toEqual({ fraction: 0.5, message: 'two' });
  expect(partition.log()).toHaveLength(before);
});

test('progress ends with the lease, and a restart forgets it', () => {
  const ended = leasedTask({ retry: { delaysMs: [0] } });
  const progress = { kind: 'progress', fraction: 0.5, message: 'half' } as const;
  ended.partition.report(ended.session, { lease: ended.lease, ...progress });
  ended.partition.report(ended.session, { lease: ended.lease, kind: 'failed' });
  const restarted = leasedTask();
  restarted.partition.report(restarted.session, { lease: restarted.lease, ...progress });
  restarted.partition.restart();

  expect(ended.partition.progressOf(1)).toBeUndefined();
  expect(restarted.partition.progressOf(1)).toBeUndefined();
});

test('progress of a lease that is over is stale', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'succeeded' });

  const report = { lease, kind: 'progress', fraction: 1, message: '' } as const;
  const { outcomes } = partition.report(session, report);

  expect(outcomes).toEqual(['stale_lease']);
  expect(partition.progressOf(1)).toBeUndefined();
});

test('started is optional: a final report may come first and carries startedAt', () => {
  const { partition, session, lease } = leasedTask();
  const startedAt = partition.now + 300;
  partition.now += 500;

  partition.report(session, { lease, kind: 'succeeded', startedAt });

  expect(partition.task(1)).toMatchObject({ state: 'succeeded', startedAt });
});

test('a start that was reported by itself stands, whatever the end says', () => {
  const { partition, session, lease } = leasedTask();
  partition.now += 100;
  partition.report(session, { lease, kind: 'started' });
  const startedAt = partition.now;
  partition.now += 100;

  partition.report(session, { lease, kind: 'failed', startedAt: startedAt + 50 });

  expect(partition.task(1).startedAt).toBe(startedAt);
});

test.each([-1_000_000, 1_000_000])(
  'a worker whose clock is off by %i ms started between its lease and its end',
  (offMs) => {
    const { partition, session, lease } = leasedTask();
    const leasedAt = partition.now;
    partition.now += 500;

    partition.report(session, { lease, kind: 'later', startedAt: partition.now + offMs });

    const { startedAt } = partition.task(1);
    expect(startedAt).toBe(offMs < 0 ? leasedAt : partition.now);
  },
);

test('a worker that gives up without being asked has failed', () => {
  const { partition, session, lease } = leasedTask({ retry: { maxAttempts: 1 } });

  const { outcomes } = partition.report(session, { lease, kind: 'cancelled' });
  const again = partition.report(session, { lease, kind: 'cancelled' });

  expect([outcomes, again.outcomes]).toEqual([['ok'], ['duplicate']]);
  expect(partition.task(1)).toMatchObject({ state: 'failed', reason: 'failed' });
});
