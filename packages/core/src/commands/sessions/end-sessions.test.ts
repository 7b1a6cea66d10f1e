import { expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { describeState } from '../../testing/describe-state.ts';
import { LEASE_MS, TestPartition } from '../../testing/test-partition.ts';

test('a session that leaves hands back at once, in the old order, before what waits', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 3 });
  partition.submit({}, {}, {}, {}, { priority: 8 });

  const found = partition.detach(session);

  expect(found).toBe(true);
  expect(waiting(partition)).toEqual([5, 1, 2, 3, 4]);
  expect(partition.task(1)).toMatchObject({ state: 'queued', reason: 'handed_back', attempt: 0 });
  expect(partition.closed).toEqual([session]);
  expect(partition.sessionCount).toBe(0);
});

test('handing a task back spends no attempt, however often', () => {
  const partition = new TestPartition();
  partition.submit({ retry: { maxAttempts: 1 } });

  for (let time = 1; time <= 3; time++) {
    const { session } = partition.attach();
    partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'started' });
    partition.detach(session);
  }

  expect(partition.task(1)).toMatchObject({ state: 'queued', reason: 'handed_back', attempt: 0 });
});

test('what is handed back goes to another worker in the same turn', () => {
  const { partition, session } = holding(1);
  const { session: other } = partition.attach();

  partition.detach(session);

  expect(partition.pushes).toEqual([
    { session: other, task: 1, lease: partition.leasesOf(other)[0] },
  ]);
});

test('a task that is leased again has not started again', () => {
  const { partition, session } = holding(1);
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'started' });
  partition.detach(session);
  partition.now += 5;

  partition.attach();

  expect(partition.task(1)).toMatchObject({
    state: 'leased',
    attempt: 1,
    leasedAt: partition.now,
    startedAt: 0,
  });
});

test('a session that nobody knows cannot leave', () => {
  const partition = new TestPartition();

  expect(partition.detach('nobody' as SessionId)).toBe(false);
  expect(partition.closed).toEqual([]);
});

test('a session is lost after leaseMs of silence and not a millisecond before', () => {
  const { partition, session } = holding(1);

  partition.now += LEASE_MS - 1;
  partition.expire();
  const before = partition.heldBy(session);
  partition.now += 1;
  partition.expire();

  expect(before).toEqual([1]);
  expect(partition.heldBy(session)).toEqual([]);
  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'worker_lost', attempt: 1 });
  expect(partition.closed).toEqual([session]);
});

test('any report renews all leases of a session', () => {
  const { partition, session } = holding(2);
  partition.now += LEASE_MS - 1;
  partition.report(session);

  partition.now += LEASE_MS - 1;
  partition.expire();

  expect(partition.heldBy(session)).toEqual([1, 2]);
});

test('a resume renews all leases of a session', () => {
  const { partition, session } = holding(1);
  partition.now += LEASE_MS - 1;
  partition.resume(session, partition.leasesOf(session));

  partition.now += LEASE_MS - 1;
  partition.expire();

  expect(partition.heldBy(session)).toEqual([1]);
});

test('an idle session lives by its stream, however long it is silent', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();

  partition.now += 100 * LEASE_MS;
  partition.expire();
  partition.submit({});

  expect(partition.heldBy(session)).toEqual([1]);
});

test('the silence of a session counts from the first lease that ends its idleness', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.now += 100 * LEASE_MS;
  partition.submit({});

  partition.now += LEASE_MS - 1;
  partition.expire();
  const before = partition.heldBy(session);
  partition.now += 1;
  partition.expire();

  expect([before, partition.heldBy(session)]).toEqual([[1], []]);
});

test('an idle session whose stream broke is gone leaseMs later', () => {
  const partition = new TestPartition();
  const { session, connection } = partition.attach();
  partition.now += 100 * LEASE_MS;
  partition.disconnect(session, connection);

  partition.now += LEASE_MS - 1;
  partition.expire();
  const before = partition.sessionCount;
  partition.now += 1;
  partition.expire();

  expect([before, partition.sessionCount]).toEqual([1, 0]);
  expect(partition.closed).toEqual([session]);
});

test('a task whose workers are lost until no attempt is left failed for that reason', () => {
  const partition = new TestPartition();
  partition.submit({});
  const states = [1, 2, 3].map(() => {
    partition.attach();
    partition.now += LEASE_MS;
    partition.expire();
    const { state } = partition.task(1);
    if (state === 'failed') return state;
    partition.now = partition.task(1).dueAt;
    partition.advance();
    return state;
  });

  expect(states).toEqual(['waiting', 'waiting', 'failed']);
  expect(partition.task(1)).toMatchObject({
    reason: 'worker_lost',
    attempt: 3,
    endedAt: partition.now,
    result: [],
  });
  expect(partition.ended).toEqual([1]);
});

test('after a lost worker the task waits as after a failure, and more each time', () => {
  const partition = new TestPartition();
  partition.submit({ retry: { maxAttempts: 9, delayMs: 1000, jitter: false } });
  const waits = [1, 2, 3].map(() => {
    partition.attach();
    partition.now += LEASE_MS;
    partition.expire();
    const { dueAt } = partition.task(1);
    const waitMs = dueAt - partition.now;
    partition.now = dueAt;
    partition.advance();
    return waitMs;
  });

  expect(waits).toEqual([1000, 2000, 4000]);
});

test('tasks of one lost worker wait for different times', () => {
  const partition = new TestPartition();
  partition.submit(...Array.from({ length: 8 }, () => ({ retry: { delayMs: 10_000 } })));
  partition.attach({ slots: 8 });
  partition.now += LEASE_MS;
  partition.expire();

  const dueTimes = Array.from({ length: 8 }, (_, index) => partition.task(index + 1).dueAt);

  expect(new Set(dueTimes).size).toBeGreaterThan(6);
});

test('without a delay the task is at the head of its queue again', () => {
  const partition = new TestPartition();
  partition.submit({ retry: { delayMs: 0 } }, {});
  partition.attach();
  partition.now += LEASE_MS;
  partition.expire();

  expect(partition.task(1)).toMatchObject({ state: 'queued', reason: 'worker_lost' });
  partition.attach();
  expect(partition.task(1).state).toBe('leased');
});

test('two sessions that are lost in the same turn do not get what the other one held', () => {
  const partition = new TestPartition();
  const first = partition.attach({ slots: 2 });
  const second = partition.attach({ slots: 2 });
  partition.submit({}, {});
  partition.now += LEASE_MS;

  partition.expire();

  expect(partition.closed).toEqual([first.session, second.session]);
  expect(partition.pushes).toEqual([]);
  expect([1, 2].map((number) => partition.task(number).attempt)).toEqual([1, 1]);
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
