import { expect, test } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import type { SetQueuePaused } from '../commands/queues/set-queue-paused.ts';
import type { PauseTask, ResumeTask } from '../commands/tasks/pause-tasks.ts';
import type { RetryTasks } from '../commands/tasks/retry-tasks.ts';
import { TestPartition } from '../testing/test-partition.ts';

test('not_due: until the time of a task has come', () => {
  const partition = new TestPartition();
  partition.submit({ delayMs: 500 });

  const early = explain(partition, 1);
  partition.now += 500;
  partition.advance();

  expect(early).toEqual(['not_due |  | waits until 1970-01-01T00:16:40.500Z (delayed)']);
  expect(codes(partition, 1)).not.toContain('not_due');
});

test('paused: until the task is resumed', () => {
  const partition = new TestPartition();
  partition.submit({});
  const id = partition.id(1);

  partition.operate<PauseTask>({ type: 'pause_task', id });
  const paused = codes(partition, 1);
  partition.operate<ResumeTask>({ type: 'resume_task', id });

  expect(paused).toEqual(['paused']);
  expect(codes(partition, 1)).toEqual(['no_worker_for_type']);
});

test('queue_paused: until the queue is resumed', () => {
  const partition = new TestPartition();
  partition.submit({});

  setPaused(partition, true);
  const paused = codes(partition, 1);
  setPaused(partition, false);

  expect(paused).toEqual(['queue_paused', 'no_worker_for_type']);
  expect(codes(partition, 1)).toEqual(['no_worker_for_type']);
});

test('no_worker_for_type: until one is connected', () => {
  const partition = new TestPartition();
  partition.attach({ types: ['other'] });
  partition.submit({}, {});

  const before = explain(partition, 2);
  const { session, connection } = partition.attach({ worker: 'w' });
  const between = codes(partition, 2);
  partition.disconnect(session, connection);

  expect(before[0]).toBe("no_worker_for_type |  | no worker that handles 'hello' is connected");
  expect(between).toEqual(['worker_full']);
  expect(codes(partition, 2)).toEqual(['no_worker_for_type']);
});

test('worker_full: a worker that takes none of a type for now says why, until it does', () => {
  const partition = new TestPartition();
  const unavailable = 'the container engine does not answer';
  const { session } = partition.attach({ types: [{ type: 'hello', unavailable }, 'other'] });
  partition.submit({});

  const before = explain(partition, 1);
  partition.reportWith(session, [], undefined, [{ type: 'hello' }, { type: 'other' }]);

  expect(before).toEqual([
    `worker_full | worker | takes none of this type for now: ${unavailable}`,
  ]);
  expect(partition.heldBy(session)).toEqual([1]);
});

test('a worker that stops to take a type keeps what it has of it', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 5 });
  partition.submit({});

  partition.reportWith(session, [], undefined, [{ type: 'hello', unavailable: 'no more' }]);
  partition.submit({});

  expect(partition.heldBy(session)).toEqual([1]);
  expect(explain(partition, 2)[0]).toContain('no more');
  partition.reportWith(session, [], undefined, [{ type: 'hello' }]);
  expect(partition.heldBy(session)).toEqual([1, 2]);
});

test('worker_full: names what is needed and what is free, until enough is given back', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ worker: 'w', slots: 5, capacity: { cpu: 8 } });
  partition.submit({ resources: { cpu: 6.5 } }, { resources: { cpu: 4 } });

  const full = explain(partition, 2);
  succeed(partition, session);

  expect(full).toEqual(['worker_full | w | needs 4 cpu, has 1.5 of 8 free']);
  expect(explain(partition, 2)).toEqual([]);
});

test('worker_full: slots, types at once, refusals and unread pushes count too', () => {
  const slots = new TestPartition();
  slots.attach({ worker: 'w' });
  slots.submit({}, {});

  const types = new TestPartition();
  types.attach({ worker: 'w', slots: 5, types: [{ type: 'hello', concurrency: 1 }] });
  types.submit({}, {});

  const refused = new TestPartition();
  const { session } = refused.attach({ worker: 'w' });
  refused.submit({});
  refused.report(session, { kind: 'refused', lease: refused.leasesOf(session)[0] });

  const unread = new TestPartition({ unsentBytesMax: 100 });
  unread.attach({ worker: 'w', slots: 5 });
  unread.submit({}, {});

  expect(explain(slots, 2)).toEqual(['worker_full | w | needs 1 slots, has 0 of 1 free']);
  expect(explain(types, 2)).toEqual(['worker_full | w | runs 1 of this type, of 1 at once']);
  expect(explain(refused, 1)).toEqual(['worker_full | w | refused it a moment ago']);
  expect(explain(unread, 2)).toEqual([
    'worker_full | w | has not read 256 bytes that were pushed to it',
  ]);
});

test('exceeds_worker: until the worker offers enough in all', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ worker: 'w', capacity: { memoryMb: 1000 } });
  partition.submit({ resources: { memoryMb: 2000 } }, { resources: { gpu: 1 } });

  const before = [...explain(partition, 1), explain(partition, 2)[0]];
  partition.reportWith(session, [], { slots: 2, memoryMb: 4000, gpu: 1 });

  expect(before).toEqual([
    'exceeds_worker | w | needs 2000 MB of memory, has 1000 in total',
    'exceeds_worker | w | needs 1 gpu, has 0 in total',
  ]);
  expect(partition.task(1).state).toBe('leased');
  expect(partition.task(2).state).toBe('leased');
});

test('constraint_unmet: names the constraint and what the worker has, until one meets it', () => {
  const partition = new TestPartition();
  partition.attach({ worker: 'bare' });
  partition.attach({ worker: 'us', labels: { zone: 'us' } });
  partition.submit({ constraints: ['zone == eu'] });

  const before = explain(partition, 1);
  partition.attach({ worker: 'eu', labels: { zone: 'eu' } });

  expect(before).toEqual([
    "constraint_unmet | bare | must meet 'zone == eu' and has no label zone",
    "constraint_unmet | us | must meet 'zone == eu' and has zone us",
  ]);
  expect(explain(partition, 1)).toEqual([]);
  expect(partition.task(1).state).toBe('leased');
});

test('draining: as long as the worker that drains is there', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ worker: 'w' });
  partition.drain(session);
  partition.submit({});

  const before = explain(partition, 1);
  partition.detach(session);

  expect(before).toEqual(['draining | w | is draining and gets no new tasks']);
  expect(codes(partition, 1)).toEqual(['no_worker_for_type']);
});

test('reserved: while the room of a worker is kept for a task that goes first', () => {
  const partition = new TestPartition({}, { matching: { reserveAfterMs: 1000 } });
  const { session } = partition.attach({ worker: 'w', slots: 4 });
  partition.submit({}, { resources: { slots: 4 } });
  partition.now += 1000;
  partition.submit({});

  const small = explain(partition, 3);
  const big = codes(partition, 2);
  succeed(partition, session);
  succeed(partition, session);

  expect(small).toEqual([
    'reserved | w | keeps its room for task number 2, which has waited long and goes first',
    "behind_in_queue |  | its position among the ready tasks of 'hello' is 2",
  ]);
  expect(big).toEqual(['worker_full']);
  expect(partition.task(3).state).toBe('leased');
});

test('every reason of a worker is named, permanent ones first', () => {
  const partition = new TestPartition();
  partition.attach({ worker: 'w', slots: 1, capacity: { cpu: 2, memoryMb: 100 } });
  partition.submit({});
  const constraints = ['zone == a', 'exists gpu'];
  partition.submit({ resources: { cpu: 4, memoryMb: 200 }, constraints });

  expect(explain(partition, 2)).toEqual([
    "constraint_unmet | w | must meet 'exists gpu' and has no label gpu",
    "constraint_unmet | w | must meet 'zone == a' and has no label zone",
    'exceeds_worker | w | needs 4 cpu, has 2 in total',
    'exceeds_worker | w | needs 200 MB of memory, has 100 in total',
    'worker_full | w | needs 1 slots, has 0 of 1 free',
  ]);
});

test('behind_in_queue: counts the ready tasks of the type that go first', () => {
  const partition = new TestPartition();
  partition.submit({ priority: 8 }, {}, { resources: { cpu: 1 } }, { priority: 0 }, {});
  partition.submit({ type: 'other', priority: 8 });

  const positions = [1, 2, 3, 4, 5].map((number) => position(partition, number));
  const { session } = partition.attach();
  const behind = position(partition, 5);
  succeed(partition, session);

  expect(positions).toEqual([1, 2, 3, 5, 4]);
  expect(behind).toBe(3);
  expect(position(partition, 5)).toBe(2);
});

test('finished: once the task ended, and until it is retried', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();
  partition.submit({ retry: { maxAttempts: 1 } });
  const [lease] = partition.leasesOf(session);

  partition.report(session, { kind: 'failed', lease });
  const ended = explain(partition, 1);
  partition.detach(session);
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });

  expect(ended).toEqual(['finished |  | ended at 1970-01-01T00:16:40.000Z: failed']);
  expect(codes(partition, 1)).toEqual(['no_worker_for_type']);
});

test('a task that a worker holds is running, and nothing keeps it from that', () => {
  const partition = new TestPartition();
  partition.attach();
  partition.submit({}, {});

  expect(partition.explanation(1)).toEqual({ running: true, reasons: [], workersNotShown: 0 });
  expect(partition.explanation(2).running).toBe(false);
});

test('at most 50 workers are listed, and the others are counted', () => {
  const partition = new TestPartition();
  for (let n = 0; n < 60; n++) partition.attach({ capacity: { cpu: 1 } });
  partition.submit({ resources: { cpu: 2 } });

  const { reasons, workersNotShown } = partition.explanation(1);

  expect(reasons).toHaveLength(50);
  expect(workersNotShown).toBe(10);
});

/** Code, worker and message of each reason. */
function explain(partition: TestPartition, number: number): string[] {
  const { reasons } = partition.explanation(number);
  return reasons.map(({ code, worker, message }) => [code, worker, message].join(' | '));
}

function codes(partition: TestPartition, number: number): string[] {
  return partition.explanation(number).reasons.map(({ code }) => code);
}

/** 1 for the first task in line of its type. */
function position(partition: TestPartition, number: number): number {
  const text = explain(partition, number).find((each) => each.startsWith('behind_in_queue'));
  return Number(/ is (\d+)$/.exec(text ?? ' is 1')?.[1]);
}

function setPaused(partition: TestPartition, paused: boolean): void {
  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'hello', paused });
}

/** The worker finishes the oldest task that it holds. */
function succeed(partition: TestPartition, session: SessionId): void {
  partition.report(session, { kind: 'succeeded', lease: partition.leasesOf(session)[0] });
}
