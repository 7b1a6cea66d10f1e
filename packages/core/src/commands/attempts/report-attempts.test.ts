import { expect, test } from 'vitest';
import type { LeaseNumber, SessionId, Slot } from '../../base/ids.ts';
import { leaseTokenText } from '../../base/lease-token.ts';
import { describeState } from '../../testing/describe-state.ts';
import { LEASE_MS, TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';

test('a task whose worker reports success ends with the output', () => {
  const { partition, session, lease } = leased();
  partition.now += 5;

  const reply = partition.report(session, { lease, kind: 'succeeded', payload: '{"n":1}' });

  expect(reply).toEqual({ found: true, outcomes: ['ok'] });
  expect(partition.task(1)).toMatchObject({
    state: 'succeeded',
    reason: 'succeeded',
    attempt: 1,
    endedAt: partition.now,
    result: [...testUtf8.encode('{"n":1}')],
  });
  expect(partition.ended).toEqual([1]);
});

test('a task whose worker reports a failure for good ends with the error', () => {
  const { partition, session, lease } = leased();
  const payload = '{"message":"no"}';

  const reply = partition.report(session, { lease, kind: 'failed', payload, retryable: false });

  expect(reply.outcomes).toEqual(['ok']);
  expect(partition.task(1)).toMatchObject({
    state: 'failed',
    reason: 'failed',
    attempt: 1,
    result: [...testUtf8.encode('{"message":"no"}')],
  });
  expect(partition.ended).toEqual([1]);
});

test('a task whose worker reports the start is running, still under the same lease', () => {
  const { partition, session, lease } = leased();
  partition.now += 5;

  const reply = partition.report(session, { lease, kind: 'started' });

  expect(reply.outcomes).toEqual(['ok']);
  expect(partition.task(1)).toMatchObject({
    state: 'running',
    reason: 'started',
    startedAt: partition.now,
  });
  expect(partition.leasesOf(session)).toEqual([lease]);
});

test('a second start is a duplicate and keeps the time of the first', () => {
  const { partition, session, lease } = leased();
  partition.report(session, { lease, kind: 'started' });
  const before = describeState(partition.state);
  partition.now += 5;

  const reply = partition.report(session, { lease, kind: 'started' });

  expect(reply.outcomes).toEqual(['duplicate']);
  expect(describeState(partition.state)).toEqual(before);
});

test('a heartbeat on a lease is fine and changes nothing that is durable', () => {
  const { partition, session, lease } = leased();
  const before = describeState(partition.state);

  const reply = partition.report(session, { lease, kind: 'heartbeat' });

  expect(reply.outcomes).toEqual(['ok']);
  expect(describeState(partition.state)).toEqual(before);
});

test('a report without entries finds the session and has no outcomes', () => {
  const { partition, session } = leased();

  const reply = partition.report(session);

  expect(reply).toEqual({ found: true, outcomes: [] });
});

test('the same final report again is a duplicate, another is stale; both without effect', () => {
  const { partition, session, lease } = leased();
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  const before = describeState(partition.state);

  const again = partition.report(session, { lease, kind: 'succeeded', payload: '2' });
  const other = partition.report(session, { lease, kind: 'failed', payload: '3' });

  expect([again.outcomes, other.outcomes]).toEqual([['duplicate'], ['stale_lease']]);
  expect(describeState(partition.state)).toEqual(before);
});

test('reports are applied in order, each with its own payload', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2 });
  partition.submit({}, {});
  const [first, second] = partition.leasesOf(session);

  const reply = partition.report(
    session,
    { lease: first, kind: 'started' },
    { lease: second, kind: 'succeeded', payload: '"b"' },
    { lease: first, kind: 'failed', payload: '"a"', retryable: false },
    { lease: second, kind: 'succeeded', payload: '"c"' },
  );

  expect(reply.outcomes).toEqual(['ok', 'ok', 'ok', 'duplicate']);
  expect(testUtf8.decode(Uint8Array.from(partition.task(1).result))).toBe('"a"');
  expect(testUtf8.decode(Uint8Array.from(partition.task(2).result))).toBe('"b"');
  expect(partition.ended).toEqual([2, 1]);
});

test('a foreign session cannot speak for a lease', () => {
  const { partition, lease } = leased();
  const { session: foreign } = partition.attach({ types: ['other'] });
  const before = describeState(partition.state);

  const reply = partition.report(foreign, { lease, kind: 'succeeded' });

  expect(reply).toEqual({ found: true, outcomes: ['stale_lease'] });
  expect(describeState(partition.state)).toEqual(before);
});

test('a session that nobody knows is not found and changes nothing', () => {
  const { partition, lease } = leased();
  const before = describeState(partition.state);

  const reply = partition.report('nobody' as SessionId, { lease, kind: 'succeeded' });

  expect(reply).toEqual({ found: false, outcomes: ['stale_lease'] });
  expect(describeState(partition.state)).toEqual(before);
});

test('texts that are no current lease are stale, and the reports around them count', () => {
  const { partition, session, lease } = leased();
  const tokenOf = (slot: number, number: number) =>
    leaseTokenText({ partition: 0, slot: slot as Slot, number: number as LeaseNumber });
  const garbage = ['', 'l_', 'nonsense', tokenOf(0, 2), tokenOf(1, 1), tokenOf(2 ** 31, 1)];

  const reply = partition.report(
    session,
    ...garbage.map((text) => ({ lease: text, kind: 'succeeded' as const })),
    { lease, kind: 'succeeded' },
  );

  expect(reply.outcomes).toEqual([...garbage.map(() => 'stale_lease'), 'ok']);
});

test('a worker whose lease was taken back is fenced out while the task waits', () => {
  const { partition, session, lease } = leased();
  partition.now += LEASE_MS;
  partition.expire();

  const reply = partition.report(session, { lease, kind: 'succeeded' });

  expect(reply).toEqual({ found: false, outcomes: ['stale_lease'] });
  expect(partition.task(1).state).toBe('waiting');
});

test('a worker whose lease moved on to another worker is fenced out', () => {
  const { partition, session, lease } = leased();
  const { session: next } = partition.attach();
  partition.detach(session);
  expect(partition.heldBy(next)).toEqual([1]);

  const reply = partition.report(session, { lease, kind: 'succeeded' });

  expect(reply.outcomes).toEqual(['stale_lease']);
  expect(partition.task(1)).toMatchObject({ state: 'leased', attempt: 1, session: next });
});

test('an old lease does not count even for the session that has the task again', () => {
  const { partition, session, lease } = leased();
  partition.resume(session, []);
  const [current] = partition.leasesOf(session);

  const reply = partition.report(session, { lease, kind: 'failed' });

  expect(current).not.toBe(lease);
  expect(reply.outcomes).toEqual(['stale_lease']);
});

test('a lease that ended by itself when attempts ran out is stale, not a duplicate', () => {
  const partition = new TestPartition();
  partition.submit({});
  let last = { session: '' as SessionId, lease: '' };
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { session } = partition.attach();
    last = { session, lease: partition.leasesOf(session)[0] };
    partition.now += 15_000;
    partition.expire();
    partition.now += 15_000;
    partition.advance();
  }
  expect(partition.task(1).state).toBe('failed');

  const reply = partition.report(last.session, { lease: last.lease, kind: 'succeeded' });

  expect(reply.outcomes).toEqual(['stale_lease']);
  expect(partition.task(1)).toMatchObject({ state: 'failed', reason: 'worker_lost' });
});

test('the lease of a task that was forgotten is stale, also once its slot is in use again', () => {
  const partition = new TestPartition({ finishedTasksMax: 0 });
  const { session } = partition.attach();
  partition.submit({});
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded' });

  const forgotten = partition.report(session, { lease, kind: 'succeeded' });
  partition.submit({});
  const reused = partition.report(session, { lease, kind: 'succeeded' });

  expect([forgotten.outcomes, reused.outcomes]).toEqual([['stale_lease'], ['stale_lease']]);
  expect(partition.task(2)).toMatchObject({ slot: 0, state: 'leased' });
});

test('a session that the roster lost in a restart can still report what it holds', () => {
  const { partition, session, lease } = leased();
  partition.restart();

  const reply = partition.report(session, { lease, kind: 'succeeded' });

  expect(reply).toEqual({ found: true, outcomes: ['ok'] });
  expect(partition.task(1).state).toBe('succeeded');
});

test('a report that was taken before a restart is a duplicate after it', () => {
  const { partition, session, lease } = leased();
  partition.report(session, { lease, kind: 'succeeded' });
  partition.restart();

  const reply = partition.report(session, { lease, kind: 'succeeded' });

  expect(reply).toEqual({ found: false, outcomes: ['duplicate'] });
});

test('a final report makes room, and the next task comes in the same turn', () => {
  const { partition, session, lease } = leased();
  partition.submit({});

  partition.report(session, { lease, kind: 'succeeded' });

  expect(partition.pushes.map((push) => push.task)).toEqual([2]);
  expect(partition.heldBy(session)).toEqual([2]);
});

test('a worker whose stream is broken may report and gets no new task for it', () => {
  const { partition, session, connection, lease } = leased();
  partition.submit({});
  partition.disconnect(session, connection);

  const reply = partition.report(session, { lease, kind: 'succeeded' });

  expect(reply.outcomes).toEqual(['ok']);
  expect(partition.pushes).toEqual([]);
});

test('finished tasks stay readable up to their bound; the oldest end is forgotten first', () => {
  const partition = new TestPartition({ finishedTasksMax: 2 });
  const { session } = partition.attach({ slots: 4 });
  partition.submit({}, {}, {}, {});
  const leases = partition.leasesOf(session);
  for (const place of [2, 0, 3, 1]) {
    partition.report(session, { lease: leases[place], kind: 'succeeded' });
  }

  partition.report(session);

  expect(describeState(partition.state).finished).toEqual([4, 2]);
});

function leased() {
  const partition = new TestPartition();
  const { session, connection } = partition.attach();
  partition.submit({});
  return { partition, session, connection, lease: partition.leasesOf(session)[0] };
}

test('a lease of another partition is stale here', () => {
  const partition = new TestPartition();
  partition.submit({});
  const { session } = partition.attach();
  const lease = leaseTokenText({ partition: 7, slot: 0 as Slot, number: 1 as LeaseNumber });

  const { outcomes } = partition.report(session, { lease, kind: 'succeeded' });

  expect(outcomes).toEqual(['stale_lease']);
});

test('a worker that sends its start and its end again hears duplicate for both', () => {
  const { partition, session, lease } = leased();
  const reports = [
    { lease, kind: 'started' },
    { lease, kind: 'succeeded' },
  ] as const;
  partition.report(session, ...reports);

  expect(partition.report(session, ...reports).outcomes).toEqual(['duplicate', 'duplicate']);
});
