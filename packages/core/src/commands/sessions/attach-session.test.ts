import { expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { stateProblems } from '../../testing/state-problems.ts';
import { LEASE_MS, TestPartition } from '../../testing/test-partition.ts';
import type { CancelTasks } from '../tasks/cancel-tasks.ts';

test('a new session is welcomed with nothing lost and gets what waits for it', () => {
  const partition = new TestPartition();
  partition.submit({}, {}, {});

  const reply = partition.attach({ newSession: 'mine' as SessionId, slots: 2 });

  expect(reply).toMatchObject({ session: 'mine', resumed: false, lost: [] });
  expect(partition.heldBy(reply.session)).toEqual([1, 2]);
});

test('one session more than the bound is refused, and resumes are not', () => {
  const partition = new TestPartition({
    sessionsMax: 2,
    dedupeKeysMax: 100,
    payloadBytesMax: 100_000,
    unsentBytesMax: 100_000,
  });
  const first = partition.attach();
  partition.attach();

  const refused = partition.attach();
  const unknown = partition.resume('gone' as SessionId, ['nonsense']);
  const resumed = partition.resume(first.session, []);

  expect(refused).toMatchObject({ rejection: 'too_many_sessions', session: '', resumed: false });
  expect(unknown.rejection).toBe('too_many_sessions');
  expect(resumed).toMatchObject({ session: first.session, resumed: true });
  expect(partition.sessionCount).toBe(2);
});

test('the grace period of an odd lease is whole, so that a replay agrees with the life', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ leaseMs: 12_345 });
  partition.submit({});
  partition.restart();

  partition.operate<CancelTasks>({
    type: 'cancel_tasks',
    ids: [partition.id(1)],
    graceMs: 10_000,
  });

  expect(stateProblems(partition.state)).toEqual([]);
  const lived = describeState(partition.state);
  partition.restart();
  expect(describeState(partition.state)).toEqual(lived);
  expect(partition.heldBy(session)).toEqual([1]);
});

test('a session that is expected back after a restart counts towards the bound', () => {
  const partition = new TestPartition({
    sessionsMax: 1,
    dedupeKeysMax: 100,
    payloadBytesMax: 100_000,
    unsentBytesMax: 100_000,
  });
  const { session } = partition.attach();
  partition.submit({});
  partition.restart();

  const refused = partition.attach();
  const resumed = partition.resume(session, partition.leasesOf(session));

  expect(refused.rejection).toBe('too_many_sessions');
  expect(resumed.resumed).toBe(true);
});

test('a session that nobody knows starts anew under its id, and what it listed is lost', () => {
  const { partition, session } = holding(1);
  const [foreign] = partition.leasesOf(session);

  const reply = partition.attach({
    newSession: 'mine' as SessionId,
    resume: { session: 'gone' as SessionId, running: [foreign, 'nonsense'] },
  });

  expect(reply).toMatchObject({
    session: 'gone',
    resumed: false,
    lost: [foreign, 'nonsense'],
  });
  expect(partition.heldBy(session)).toEqual([1]);
});

test('a lease that both sides know is kept over a resume', () => {
  const { partition, session } = holding(2);
  const leases = partition.leasesOf(session);
  const before = describeState(partition.state);

  const reply = partition.resume(session, leases, { slots: 2 });

  expect(reply).toMatchObject({ session, resumed: true, lost: [] });
  expect(describeState(partition.state)).toEqual(before);
  expect(partition.pushes).toEqual([]);
});

test('a lease that was taken back is lost for the worker that lists it', () => {
  const { partition, session } = holding(2);
  const [first, second] = partition.leasesOf(session);
  partition.report(session, { lease: first, kind: 'succeeded' });

  const reply = partition.resume(session, [first, second, 'nonsense'], { slots: 2 });

  expect(reply).toMatchObject({ resumed: true, lost: [first, 'nonsense'] });
  expect(partition.heldBy(session)).toEqual([2]);
});

test('the lease of another session is lost for the worker that lists it, and stays there', () => {
  const { partition, session } = holding(1);
  const { session: other } = partition.attach();
  const [lease] = partition.leasesOf(session);

  const reply = partition.resume(other, [lease]);

  expect(reply.lost).toEqual([lease]);
  expect(partition.leasesOf(session)).toEqual([lease]);
});

test('a lease that never arrived goes back to the head at once and costs no attempt', () => {
  const { partition, session } = holding(3);
  const [first] = partition.leasesOf(session);
  partition.submit({});

  partition.resume(session, [first], { slots: 1 });

  expect(partition.task(2)).toMatchObject({
    state: 'queued',
    reason: 'not_arrived',
    attempt: 0,
  });
  expect(waiting(partition)).toEqual([2, 3, 4]);
  expect(partition.ended).toEqual([]);
});

test('a task that never arrives any number of times does not run out of attempts', () => {
  const { partition, session } = holding(1);

  for (let round = 0; round < 10; round++) partition.resume(session, []);

  expect(partition.task(1)).toMatchObject({ state: 'leased', attempt: 1 });
});

test('a lease that never arrived can go to another worker in the same turn', () => {
  const { partition, session } = holding(1);
  partition.attach({ slots: 1 });

  partition.resume(session, [], { types: ['other'] });

  expect(partition.task(1)).toMatchObject({ state: 'leased', session: 's2', attempt: 1 });
});

test('a second resume displaces the first: the end of the old stream does not count', () => {
  const { partition, session } = holding(1);
  const leases = partition.leasesOf(session);
  const first = partition.resume(session, leases, { slots: 2 });
  const second = partition.resume(session, leases, { slots: 2 });

  partition.disconnect(session, first.connection);
  partition.submit({});

  expect(second.connection).toBeGreaterThan(first.connection);
  expect(partition.heldBy(session)).toEqual([1, 2]);
});

test('the old stream of a lost session does not count when it starts anew under its id', () => {
  const { partition, session, connection } = holding(1);
  partition.now += LEASE_MS;
  partition.expire();
  partition.resume(session, [], { types: ['other'] });

  partition.disconnect(session, connection);
  partition.submit({ type: 'other' });

  expect(partition.heldBy(session)).toEqual([2]);
});

test('a resumed session works with the types and slots of its newest stream', () => {
  const { partition, session } = holding(1);
  partition.submit({ type: 'other' }, { type: 'hello' });

  partition.resume(session, partition.leasesOf(session), { types: ['other'], slots: 3 });

  expect(partition.heldBy(session)).toEqual([1, 2]);
  expect(partition.task(3).state).toBe('queued');
});

test('a session that comes back with less room than it uses keeps all and gets no more', () => {
  const { partition, session } = holding(3);
  const leases = partition.leasesOf(session);

  partition.resume(session, leases, { slots: 2 });
  partition.submit({});
  partition.report(session, { lease: leases[0], kind: 'succeeded' });

  expect(partition.heldBy(session)).toEqual([2, 3]);
});

test('a broken stream alone loses nothing, and brings nothing new', () => {
  const partition = new TestPartition();
  const { session, connection } = partition.attach({ slots: 2 });
  partition.submit({});

  partition.disconnect(session, connection);
  partition.submit({});
  partition.now += LEASE_MS - 1;
  partition.expire();

  expect(partition.heldBy(session)).toEqual([1]);
  expect(partition.task(2).state).toBe('queued');
});

function holding(count: number) {
  const partition = new TestPartition();
  const { session, connection } = partition.attach({ slots: count });
  partition.submit(...Array.from({ length: count }, () => ({})));
  return { partition, session, connection };
}

/** The queued tasks of type `hello`, in the order in which they are leased. */
function waiting(partition: TestPartition): number[] {
  const queue = describeState(partition.state).queues.find(({ type }) => type === 'hello');
  return queue?.lanes.flatMap(({ waiting }) => waiting) ?? [];
}
