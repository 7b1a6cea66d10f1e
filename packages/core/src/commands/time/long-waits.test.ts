import { expect, test } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { SetQueuePaused } from '../queues/set-queue-paused.ts';
import type { CancelTasks } from '../tasks/cancel-tasks.ts';
import type { PatchTasks } from '../tasks/patch-tasks.ts';
import type { PauseTask } from '../tasks/pause-tasks.ts';

const BOUND_MS = 10_000;

test('low levels make progress: every eighth lease goes to the task that waited longest', () => {
  const partition = new TestPartition({ tasksMax: 300, finishedTasksMax: 200 });
  const { session } = partition.attach();
  partition.submit({}, ...many(3, { priority: 0 }));
  partition.now += 30_000;

  const order: number[] = [];
  for (let n = 0; n < 24; n++) {
    partition.submit({ priority: 8 });
    succeed(partition, session);
    order.push(partition.task(partition.heldBy(session)[0]).priority);
  }

  expect(order.filter((priority) => priority === 0)).toHaveLength(3);
  expect(order.slice(0, 8).filter((priority) => priority === 0)).toHaveLength(1);
});

test('a queue that is paused and resumed again and again keeps nobody from that turn', () => {
  const partition = new TestPartition({ tasksMax: 300, finishedTasksMax: 200 });
  const { session } = partition.attach({ slots: 1 });
  partition.submit({}, ...many(3, { priority: 0 }));
  partition.now += 30_000;

  const order: number[] = [];
  for (let n = 0; n < 24; n++) {
    setPaused(partition, true);
    partition.submit({ priority: 8 });
    succeed(partition, session);
    setPaused(partition, false);
    order.push(partition.task(partition.heldBy(session)[0]).priority);
  }

  expect(order.filter((priority) => priority === 0)).toHaveLength(3);
});

test('turns count also among leases that make up for a time without any', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 16 });
  partition.grantsLeases = false;
  partition.submit(...many(3, { priority: 0 }));
  partition.now += 30_000;
  partition.submit(...many(16, { priority: 8 }));

  partition.grantsLeases = true;
  partition.advance();

  const places = [1, 2].map((number) => partition.heldBy(session).indexOf(number));
  // The lease count starts with the connection number.
  expect(places).toEqual([6, 14]);
});

test('a low level that has not waited long gets no lease before a higher one', () => {
  const partition = new TestPartition({ tasksMax: 300, finishedTasksMax: 200 });
  const { session } = partition.attach();
  partition.submit({}, ...many(3, { priority: 0 }));
  partition.now += 29_000;

  for (let n = 0; n < 24; n++) {
    partition.submit({ priority: 8 });
    succeed(partition, session);
    expect(partition.task(partition.heldBy(session)[0]).priority).toBe(8);
  }
});

test('a huge old backlog of low priority does not hold up an urgent task', () => {
  const partition = new TestPartition({ tasksMax: 500 });
  const { session } = partition.attach({ slots: 1 });
  partition.submit(...many(400, { priority: 0 }));
  partition.now += 3_600_000;

  const waits = Array.from({ length: 10 }, () => {
    partition.submit({ priority: 8 });
    const number = partition.state.nextTask - 1;
    let leases = 0;
    while (partition.heldBy(session)[0] !== number) {
      succeed(partition, session);
      leases += 1;
    }
    return leases;
  });

  expect(Math.max(...waits)).toBeLessThanOrEqual(2);
});

test('a big task gets its turn within the bound, under a steady stream of small ones', () => {
  const { partition, session } = busy();
  partition.submit({ resources: { slots: 4 } });
  const since = partition.now;

  // Four small tasks at a time, each for four seconds, and always another one ready.
  while (partition.task(5).state === 'queued' && partition.now < since + 100_000) {
    partition.now += 1000;
    partition.submit({});
    succeed(partition, session);
  }

  expect(partition.heldBy(session)).toEqual([5]);
  expect(partition.now - since).toBeLessThanOrEqual(BOUND_MS + 4000);
});

test('without a bound a big task would wait for ever', () => {
  const { partition, session } = busy({ reserveAfterMs: Number.POSITIVE_INFINITY });
  partition.submit({ resources: { slots: 4 } });

  for (let n = 0; n < 60; n++) {
    partition.now += 1000;
    partition.submit({});
    succeed(partition, session);
  }

  expect(partition.task(5).state).toBe('queued');
});

test('a small task that arrives when there is room does not overtake one that waited long', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 4 });
  partition.submit({}, { resources: { slots: 4 } });
  partition.now += BOUND_MS;

  partition.submit({});

  expect(partition.reservations()).toEqual(new Map([[session, 2]]));
  expect(partition.heldBy(session)).toEqual([1]);
  succeed(partition, session);
  expect(partition.heldBy(session)).toEqual([2]);
  expect(partition.reservations().size).toBe(0);
});

test('a reservation holds back nobody who goes first: higher levels, and older ones', () => {
  const { partition, session } = reserved();

  partition.submit({ priority: 5 });
  const higher = partition.heldBy(session);
  partition.submit({ priority: 4 }, { priority: 3 });

  expect(higher).toEqual([1, 4]);
  expect(partition.heldBy(session)).toEqual([1, 4]);
});

test('a task has one reservation, and other workers go on with the small ones', () => {
  const { partition, session } = reserved();
  const other = partition.attach({ slots: 3 }).session;

  partition.submit({}, {});

  expect(partition.heldBy(other)).toEqual([3, 4, 5]);
  expect(partition.reservations()).toEqual(new Map([[session, 2]]));
});

test('one session in four keeps room at the most, and at least one may', () => {
  const partition = new TestPartition({ tasksMax: 200 });
  for (let n = 0; n < 8; n++) partition.attach({ slots: 2 });
  partition.submit(...many(8, {}));
  partition.submit(...many(5, {}).map((_, n) => ({ resources: { slots: 2, cpu: n + 1 } })));
  partition.now += BOUND_MS;

  partition.submit(...many(20, {}));

  expect(partition.reservations().size).toBe(2);
});

test('a worker that kept room gets as many others as it runs before it keeps room again', () => {
  const { partition, session } = busy();
  partition.submit({ resources: { slots: 2 } }, { resources: { slots: 2, cpu: 1 } });
  partition.now += BOUND_MS;
  partition.submit(...many(9, {}));

  const seen = [1, 2, 3, 4, 7, 8].map((number) => {
    finish(partition, session, number);
    return [partition.heldBy(session), partition.reservations().get(session)];
  });

  expect(seen).toEqual([
    [[2, 3, 4], 5],
    [[3, 4, 5], undefined],
    [[4, 5, 7], undefined],
    [[5, 7, 8], undefined],
    [[5, 8, 9], undefined],
    [[5, 9], 6],
  ]);
});

test.each([
  ['is leased elsewhere', (partition: TestPartition) => void partition.attach({ slots: 4 })],
  ['is cancelled', cancelBig],
  ['is paused', pauseBig],
  ['gets another place in line', patchBig],
  ['has its queue paused', pauseQueue],
  ['loses the worker to a drain', (partition: TestPartition, id: SessionId) => partition.drain(id)],
  ['loses the worker', (partition: TestPartition, id: SessionId) => partition.detach(id)],
  [
    'loses the connection of the worker',
    (partition: TestPartition, id: SessionId) => partition.disconnect(id, 1),
  ],
])('a reservation ends when the task %s', (_, act) => {
  const { partition, session } = reserved();
  const before = partition.reservations();

  act(partition, session);

  expect(before).toEqual(new Map([[session, 2]]));
  expect([...partition.reservations().keys()]).not.toContain(session);
});

test('what a reservation held back goes on in the turn in which it ends', () => {
  const { partition, session } = reserved();

  cancelBig(partition);

  expect(partition.heldBy(session)).toEqual([1, 3]);
});

/** A worker with four slots that runs four small tasks. */
function busy(matching = {}) {
  const partition = new TestPartition({ tasksMax: 500, finishedTasksMax: 300 }, { matching });
  const { session } = partition.attach({ slots: 4 });
  partition.submit({}, {}, {}, {});
  return { partition, session };
}

/** A worker that runs a small task and reserves its room for a big one; a third one waits. */
function reserved() {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 4 });
  partition.submit({}, { resources: { slots: 4 } });
  partition.now += BOUND_MS;
  partition.submit({});
  return { partition, session };
}

function cancelBig(partition: TestPartition): void {
  const ids = [partition.id(2)];
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
}

function pauseBig(partition: TestPartition): void {
  partition.operate<PauseTask>({ type: 'pause_task', id: partition.id(2) });
}

function patchBig(partition: TestPartition): void {
  partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: [{ id: partition.id(2), priority: 0 }],
    inputs: new Uint8Array(0),
    inputEnds: [0],
  });
}

function pauseQueue(partition: TestPartition): void {
  setPaused(partition, true);
}

function setPaused(partition: TestPartition, paused: boolean): void {
  partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType: 'hello', paused });
}

function many<T>(count: number, task: T): T[] {
  return Array.from({ length: count }, () => task);
}

/** The worker finishes the oldest task that it holds. */
function succeed(partition: TestPartition, session: SessionId): void {
  finish(partition, session, partition.heldBy(session)[0]);
}

/** The worker finishes this task. */
function finish(partition: TestPartition, session: SessionId, number: number): void {
  const lease = partition.leasesOf(session)[partition.heldBy(session).indexOf(number)];
  partition.report(session, { kind: 'succeeded', lease });
}
