import { expect, test } from 'vitest';
import type { SessionId } from './base/ids.ts';
import type { CreateAccessKey } from './commands/access/create-access-key.ts';
import type { RevokeAccessKey } from './commands/access/revoke-access-key.ts';
import type { ResetAfterRestore } from './commands/backup/reset-after-restore.ts';
import type { RecordDelivery } from './commands/callbacks/record-delivery.ts';
import type { RedeliverCallbacks } from './commands/callbacks/redeliver-callbacks.ts';
import type { DiscardDeadLetters } from './commands/dead-letters/discard-dead-letters.ts';
import type { StartRedrive } from './commands/dead-letters/redrive-tasks.ts';
import type { PutTaskType } from './commands/queues/put-task-type.ts';
import type { SetQueuePaused } from './commands/queues/set-queue-paused.ts';
import type { CancelTasks } from './commands/tasks/cancel-tasks.ts';
import type { EndTask } from './commands/tasks/end-task.ts';
import type { PatchTasks } from './commands/tasks/patch-tasks.ts';
import type { PauseTask, ResumeTask } from './commands/tasks/pause-tasks.ts';
import type { ReadmitTask } from './commands/tasks/readmit-task.ts';
import type { RetryTasks } from './commands/tasks/retry-tasks.ts';
import { makeEvents } from './events/make-events.ts';
import { RecordWriter } from './events/record-writer.ts';
import { Partition } from './partition.ts';
import { REPLACE_DUPLICATE } from './task/dedupe-claim.ts';
import { TASK_STATES } from './task/task-state.ts';
import { decodeBatch } from './testing/decode-batch.ts';
import { describeState } from './testing/describe-state.ts';
import { cancelledRun, rerunRun } from './testing/runs/cancelled-run.ts';
import { busySchedules } from './testing/schedules/busy-schedules.ts';
import { LEASE_MS, TestPartition } from './testing/test-partition.ts';
import type { TestTask } from './testing/test-requests.ts';
import { testUtf8 } from './testing/test-utf8.ts';

test('the busy partition has been through every type of event', () => {
  const revived = new TestPartition({ finishedTasksMax: 10 });
  rerunRun(revived);
  busySchedules(revived);
  const records = [...busyPartition().log(), ...revived.log()].flatMap(decodeBatch);

  const types = new Set(records.flatMap(({ events }) => events.map((event) => event.type)));

  expect(types.size).toBe(Object.keys(makeEvents()).length);
});

test('a log that is replayed gives the same state (partition.same-replay)', () => {
  const partition = busyPartition();

  const replayed = partition.replayed();

  expect(describeState(replayed.state)).toEqual(describeState(partition.state));
});

test('the same log replayed twice gives equal states, and replaying writes nothing new', () => {
  const partition = busyPartition();

  const [first, second] = [partition.replayed(), partition.replayed()];

  expect(describeState(first.state)).toEqual(describeState(second.state));
  expect(Object.values(first.outputs).flat()).toEqual([]);
});

test('a command that changes nothing durable writes no record', () => {
  const writer = new RecordWriter(testUtf8);
  const partition = emptyPartition();

  partition.execute(attach(5), writer);
  partition.execute({ type: 'expire_sessions', now: 6 }, writer);

  expect([writer.recordCount, writer.length]).toEqual([0, 0]);
});

test('a command writes one record, however many events it has', () => {
  const writer = new RecordWriter(testUtf8);
  const partition = emptyPartition();
  partition.execute(attach(5), writer);

  partition.execute(submit(6, 3), writer);

  expect(writer.recordCount).toBe(1);
});

test('the outputs of a command are gone with the next one', () => {
  const writer = new RecordWriter(testUtf8);
  const partition = emptyPartition();
  partition.execute(attach(5), writer);
  partition.execute(submit(6, 1), writer);
  expect(partition.outputs.pushSlots).toEqual([0]);

  partition.execute({ type: 'expire_sessions', now: 7 }, writer);

  expect(partition.outputs.pushSlots).toEqual([]);
});

test('an event with an older time happens at the newest time (partition.forward-time)', () => {
  const partition = new TestPartition();
  partition.submit({});
  const newest = partition.now;
  partition.now -= 5000;

  partition.submit({});

  expect(partition.task(2).submittedAt).toBe(newest);
  expect(partition.state.now).toBe(newest);
});

test('a report with an older time is heard at the newest time (partition.forward-time)', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  partition.now += LEASE_MS / 2;
  partition.submit({});
  const newest = partition.now;
  partition.now = newest - LEASE_MS / 4;
  partition.report(session);

  partition.now = newest + LEASE_MS - 1;
  partition.expire();

  expect(partition.heldBy(session)).toEqual([1]);
});

test('after a restart nothing expires before the grace period is over (L7)', () => {
  const { partition, session } = restarted({ graceMsMin: 5 * LEASE_MS });

  partition.now += 5 * LEASE_MS - 1;
  partition.expire();
  const before = partition.heldBy(session);
  partition.now += 1;
  partition.expire();

  expect([before, partition.heldBy(session)]).toEqual([[1], []]);
  expect(partition.task(1)).toMatchObject({ state: 'waiting', reason: 'worker_lost' });
});

test('the grace period is never shorter than one and a half leases', () => {
  const { partition, session } = restarted({ graceMsMin: 0 });

  partition.now += 1.5 * LEASE_MS - 1;
  partition.expire();
  const before = partition.heldBy(session);
  partition.now += 1;
  partition.expire();

  expect([before, partition.heldBy(session)]).toEqual([[1], []]);
});

test('a session that comes back after a restart keeps its leases and runs nothing twice', () => {
  const { partition, session } = restarted({ graceMsMin: 0 });
  const leases = partition.leasesOf(session);

  const reply = partition.resume(session, leases);

  expect(reply).toMatchObject({ session, resumed: true, lost: [] });
  expect(partition.pushes).toEqual([]);
  expect(partition.task(1)).toMatchObject({ state: 'leased', attempt: 1 });
});

test('a session that is expected back gets nothing before it is back', () => {
  const { partition, session } = restarted({ graceMsMin: 0 });

  partition.submit({});
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });

  expect(partition.task(2).state).toBe('queued');
  partition.resume(session, []);
  expect(partition.heldBy(session)).toEqual([2]);
});

test('an idle session is not expected back after a restart', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });

  partition.restart();

  expect(partition.sessionCount).toBe(0);
  expect(partition.resume(session, []).resumed).toBe(false);
});

test('old tasks do not keep the memory of all that came and went since, also in a replay', () => {
  const partition = new TestPartition({ finishedTasksMax: 2, arenaChunkBytes: 128 });
  const { session } = partition.attach({ slots: 1 });
  for (let round = 0; round < 40; round++) {
    partition.submit({ priority: 0, input: 'stays' });
    for (let turn = 0; turn < 5; turn++) {
      partition.submit({ priority: 8, input: 'a longer input that leaves' });
      const [lease] = partition.leasesOf(session);
      partition.report(session, { lease, kind: 'succeeded', payload: 'and its output' });
    }
  }

  const { payloads } = partition.state;
  const replayed = partition.replayed().state.payloads;

  // Forty payloads of ten bytes with their headers fill four chunks; those that finished last add
  // more.
  expect(payloads.liveBytes).toBeLessThan(400);
  expect(payloads.chunkCount).toBeLessThan(16);
  expect(replayed.chunkCount).toBeLessThan(16);
});

function restarted(given: { graceMsMin: number }): {
  partition: TestPartition;
  session: SessionId;
} {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({});
  // The server's downtime must not count as silence.
  partition.now += 100 * LEASE_MS;
  partition.restart(given.graceMsMin);
  return { partition, session };
}

/** A partition that has logged every type of event. */
function busyPartition(): TestPartition {
  const partition = new TestPartition({
    finishedTasksMax: 1,
    deadLettersMax: 1,
    callbacksMax: 1,
    sessionsMax: 100,
    dedupeKeysMax: 100,
    payloadBytesMax: 100_000,
    unsentBytesMax: 100_000,
    arenaChunkBytes: 64,
  });
  const { session } = partition.attach({ slots: 4, worker: 'Zoë' });
  partition.submit({ input: '"one"' }, { type: 'other', input: '"two"', priority: 8 }, {}, {});
  const dedupe = { key: 1, input: 1, windowMs: 1000 };
  partition.submit({ input: '"five"', dedupe }, { priority: 0 });
  const replacing = { ...dedupe, key: 2, onDuplicate: REPLACE_DUPLICATE };
  partition.submit({ type: 'other', dedupe: { ...replacing, input: 1 } });
  partition.submit({ type: 'other', dedupe: { ...replacing, input: 2 } });
  const [first, second, third] = partition.leasesOf(session);
  partition.report(session, { lease: first, kind: 'started' });
  partition.report(session, { lease: first, kind: 'succeeded', payload: '"done"' });
  partition.report(session, { lease: second, kind: 'failed', payload: '{"message":"no"}' });
  partition.now += LEASE_MS / 2;
  partition.advance();
  partition.resume(session, [third], { slots: 2 });
  for (let attempt = 2; attempt <= 3; attempt++) {
    partition.detach(session);
    partition.now += LEASE_MS;
    partition.attach({ slots: 3 });
    partition.now += LEASE_MS;
    partition.expire();
    partition.now += LEASE_MS;
    partition.advance();
  }
  partition.attach({ slots: 2 });
  partition.submit({ input: '"last"' });
  operateOnAll(partition);
  cancelledRun(partition);
  partition.submitAs({ key: 9, input: 1, windowMs: 1000 }, [{}]);
  return partition;
}

/** Emits the events of operators and timeouts. */
function operateOnAll(partition: TestPartition): void {
  const by = { actor: 'k_1', address: '::1', request: 'q_1', subject: 'k_1', detail: '' };
  const made = { type: 'create_access_key', hash: 'ab', by } as const;
  const key = { namespace: 'default', role: 'admin', name: 'first' };
  partition.operate<CreateAccessKey>({ ...made, id: 'k_1', key });
  partition.operate<CreateAccessKey>({
    ...made,
    id: 'k_2',
    key: { replaces: 'k_1', overlapMs: 5 },
  });
  partition.operate<RevokeAccessKey>({ type: 'revoke_access_key', id: 'k_1', by });
  partition.operate<ResetAfterRestore>({
    type: 'reset_after_restore',
    leasesSkipped: 1000,
    deliveriesSkipped: 1000,
    by,
  });
  tryDeliveries(partition);
  partition.namespace = 'other';
  partition.operate<PutTaskType>({
    type: 'put_task_type',
    taskType: 'hello',
    definition: { priority: 2, tags: { team: 'a' } },
  });
  const { session } = partition.attach({ slots: 9 });
  const [lease] = runNew(partition, session, { timeouts: { runMs: 5 } });
  partition.now += 5;
  partition.advance();
  partition.report(session, { lease, kind: 'cancelled', usage: { wallMs: 5, cpuMs: 0 } });
  const [other] = runNew(partition, session, {});
  partition.report(session, { lease: other, kind: 'later' });
  const number = partition.state.nextTask - 1;
  const id = partition.id(number);
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [id], graceMs: 0 });
  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'hello', paused: true });
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [id] });
  partition.operate<PauseTask>({ type: 'pause_task', id });
  partition.operate<ResumeTask>({ type: 'resume_task', id });
  partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: [{ id, priority: 8 }],
    inputs: new Uint8Array(0),
    inputEnds: [0],
  });
  const payload = testUtf8.encode('"no"');
  partition.operate<EndTask>({ type: 'end_task', id, outcome: 'failed', payload });
  partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec: 1 });
  for (let second = 0; second < 5; second++) {
    partition.now += 1000;
    partition.advance();
  }
  partition.operate<EndTask>({ type: 'end_task', id, outcome: 'failed', payload });
  partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters' });
  // A task that leaves memory and comes back.
  for (let i = 0; i < 3; i++) {
    partition.submit({ type: 'x' });
    const ids = [partition.id(partition.state.nextTask - 1)];
    partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
  }
  const rest = { spec: { type: 'hello' }, input: payload };
  const state = TASK_STATES.indexOf('failed');
  const { rejection } = partition.operate<ReadmitTask>({
    type: 'readmit_task',
    id,
    state,
    ...rest,
  });
  expect(rejection).toBeUndefined();
}

/** One delivery succeeds at the second try, one is dropped. */
function tryDeliveries(partition: TestPartition): void {
  const callback = { url: 'http://x', on: ['cancelled'] };
  const first = partition.state.outbox.next;
  partition.submit({ callback, delayMs: 5000 });
  partition.submit({ callback, delayMs: 5000 });
  const ids = [1, 2].map((back) => partition.id(partition.state.nextTask - back));
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
  const tried = { type: 'record_delivery', status: 410, durationMs: 5, seed: 1 } as const;
  partition.operate<RecordDelivery>({ ...tried, delivery: first, failure: 3 });
  partition.operate<RedeliverCallbacks>({ type: 'redeliver_callbacks' });
  partition.operate<RecordDelivery>({ ...tried, delivery: first, failure: 0 });
  partition.operate<RecordDelivery>({ ...tried, delivery: first + 1, failure: 3 });
  partition.submit({ callback, delayMs: 5000 });
  const id = partition.id(partition.state.nextTask - 1);
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [id], graceMs: 0 });
  partition.advance();
}

function runNew(partition: TestPartition, session: SessionId, task: TestTask): string[] {
  partition.submit(task);
  return partition.leasesOf(session).slice(-1);
}

function emptyPartition(): Partition {
  return new Partition({
    partition: 0,
    limits: {
      tasksMax: 10,
      finishedTasksMax: 5,
      deadLettersMax: 5,
      callbacksMax: 5,
      sessionsMax: 100,
      dedupeKeysMax: 100,
      payloadBytesMax: 100_000,
      unsentBytesMax: 100_000,
    },
    utf8: testUtf8,
  });
}

function attach(now: number) {
  return {
    type: 'attach_session',
    namespace: 'default',
    now,
    newSession: 's' as SessionId,
    worker: 'w',
    version: '1',
    types: [{ type: 'hello' }],
    capacity: { slots: 5 },
    labels: new Map(),
    leaseMs: LEASE_MS,
  } as const;
}

function submit(now: number, count: number) {
  return {
    type: 'submit_tasks',
    namespace: 'default',
    now,
    tasks: Array.from({ length: count }, () => ({ type: 'hello' })),
    inputs: new Uint8Array(0),
    inputEnds: Array.from({ length: count }, () => 0),
  } as const;
}
