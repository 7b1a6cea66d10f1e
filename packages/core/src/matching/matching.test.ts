import { expect, test } from 'vitest';
import type { SessionId } from '../base/ids.ts';
import type { CancelTasks } from '../commands/tasks/cancel-tasks.ts';
import { TestPartition } from '../testing/test-partition.ts';

test('a big task never blocks a small one behind it', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2, capacity: { cpu: 2 } });
  partition.submit({ resources: { cpu: 1 } });

  partition.submit({ resources: { cpu: 2 }, priority: 8 }, { resources: { cpu: 1 } });

  expect(partition.heldBy(session)).toEqual([1, 3]);
});

test('of the tasks that fit the highest level goes first, and in a level the oldest', () => {
  const partition = new TestPartition();
  partition.submit(
    { type: 'b', resources: { cpu: 1 } },
    { type: 'a' },
    { type: 'a', resources: { cpu: 9 }, priority: 8 },
    { type: 'b', constraints: ['zone == eu'], priority: 5 },
    { type: 'b', resources: { memoryMb: 1 } },
  );

  const { session } = partition.attach({
    types: ['a', 'b'],
    slots: 9,
    capacity: { cpu: 4 },
    labels: { zone: 'eu' },
  });

  expect(partition.heldBy(session)).toEqual([4, 1, 2, 5]);
});

test('an oversized head does not idle a worker', () => {
  const partition = new TestPartition({}, { matching: { reserveAfterMs: 100 } });
  const { session } = partition.attach({ slots: 2, capacity: { cpu: 2 } });
  partition.submit({ resources: { cpu: 100 }, priority: 8 });

  for (let n = 2; n < 20; n++) {
    partition.now += 1000;
    partition.submit({ resources: { cpu: 2 } });
    expect(partition.heldBy(session)).toEqual([n]);
    succeed(partition, session);
  }

  expect(partition.task(1).state).toBe('queued');
  expect(partition.reservations().size).toBe(0);
});

test('a worker runs as many of a type at once as it said, and others beside them', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({
    slots: 9,
    types: [{ type: 'a', concurrency: 2 }, { type: 'b' }],
  });

  partition.submit({ type: 'a' }, { type: 'a' }, { type: 'a' }, { type: 'b' }, { type: 'b' });
  expect(partition.heldBy(session)).toEqual([1, 2, 4, 5]);
  succeed(partition, session);

  expect(partition.heldBy(session)).toEqual([2, 4, 5, 3]);
});

test('what a worker still runs after a restart counts towards its types and its capacity', () => {
  const partition = new TestPartition();
  const offer = {
    slots: 9,
    types: [{ type: 'hello', concurrency: 2 }],
    capacity: { cpu: 3 },
  };
  const { session } = partition.attach(offer);
  partition.submit({ resources: { cpu: 2 } });
  partition.restart(5000);

  partition.resume(session, partition.leasesOf(session), offer);
  partition.submit({ resources: { cpu: 2 } }, { resources: { cpu: 1 } }, {});

  expect(partition.heldBy(session)).toEqual([1, 3]);
});

test('the sum of what is leased to a worker never exceeds what it offers, kind by kind', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({
    slots: 10,
    capacity: { cpu: 1, memoryMb: 100, diskMb: 10, gpu: 1, custom: { licence: 0.3 } },
  });

  for (const resources of [
    { cpu: 0.3 },
    { memoryMb: 60 },
    { diskMb: 6 },
    { gpu: 1 },
    { custom: { licence: 0.1 } },
  ]) {
    partition.submit(...Array.from({ length: 4 }, () => ({ resources })));
  }

  expect(partition.heldBy(session)).toEqual([1, 2, 3, 5, 9, 13, 17, 18, 19]);
});

test('constraints: all must hold', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 9, labels: { zone: 'eu', ssd: 'yes' } });

  partition.submit(
    { constraints: ['zone == eu', 'exists ssd'] },
    { constraints: ['zone == eu', 'exists gpu-model'] },
    { constraints: ['zone in (us, eu)', 'arch != arm'] },
    { constraints: ['zone not in (us, eu)'] },
  );

  expect(partition.heldBy(session)).toEqual([1, 3]);
});

test('a worker that offers more is given what fits now, in the same turn', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 1, capacity: { cpu: 1 } });
  partition.submit({ resources: { cpu: 2 } }, { resources: { cpu: 1 } }, { resources: { cpu: 1 } });

  partition.reportWith(session, [], { slots: 3, cpu: 4 });

  expect(partition.heldBy(session)).toEqual([2, 1, 3]);
});

test('a worker that offers less keeps what it runs and gets nothing until it fits', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 4 });
  partition.submit({}, {}, {}, {});

  partition.reportWith(session, [], { slots: 2 });
  const kept = partition.heldBy(session);
  for (let n = 0; n < 2; n++) succeed(partition, session);
  partition.submit({});
  const full = partition.heldBy(session);
  succeed(partition, session);

  expect([kept, full, partition.heldBy(session)]).toEqual([
    [1, 2, 3, 4],
    [3, 4],
    [4, 5],
  ]);
});

test('a worker that offers no slot gets nothing, also when all that it ran has ended', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2 });
  partition.submit({});

  partition.reportWith(session, [], { slots: 0 });
  partition.submit({});
  const held = partition.heldBy(session);
  succeed(partition, session);

  expect([held, partition.heldBy(session)]).toEqual([[1], []]);
  partition.reportWith(session, [], { slots: 1 });
  expect(partition.heldBy(session)).toEqual([2]);
});

test('spread goes round among the workers that fit', () => {
  const partition = new TestPartition();
  const sessions = [{}, { cpu: 1 }, {}].map(
    (capacity) => partition.attach({ slots: 9, capacity }).session,
  );

  for (let n = 0; n < 6; n++) partition.submit({ resources: { cpu: 2 } });

  expect(sessions.map((session) => partition.heldBy(session).length)).toEqual([3, 0, 3]);
});

test('pack fills one worker before it begins another', () => {
  const partition = new TestPartition({}, { matching: { placement: 'pack' } });
  const sessions = [1, 2].map(() => partition.attach({ slots: 9, capacity: { cpu: 4 } }).session);

  for (let n = 0; n < 4; n++) partition.submit({ resources: { cpu: 2 } });

  expect(sessions.map((session) => partition.heldBy(session))).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('a task says how it is placed, and otherwise the setting counts', () => {
  const partition = new TestPartition();
  const workers = [1, 2, 3].map(() => partition.attach({ slots: 3, capacity: { cpu: 3 } }));
  const packed = { resources: { cpu: 1 }, placement: 'pack' } as const;

  partition.submit(packed, packed, packed);
  const afterPack = workers.map(({ session }) => partition.heldBy(session).length);
  partition.submit({ ...packed, placement: 'spread' }, { resources: { cpu: 1 } });

  expect(afterPack.toSorted()).toEqual([0, 0, 3]);
  const afterAll = workers.map(({ session }) => partition.heldBy(session).length);
  expect(afterAll.toSorted()).toEqual([1, 1, 3]);
});

test('a task that needs nothing at all is packed, too', () => {
  const partition = new TestPartition({}, { matching: { placement: 'pack' } });
  const { session } = partition.attach({ slots: 1 });

  partition.submit({ resources: { slots: 0 } });

  expect(partition.heldBy(session)).toEqual([1]);
});

test.each(['spread', 'pack'] as const)(
  '%s brings tasks together that need different kinds',
  (placement) => {
    const partition = new TestPartition({}, { matching: { placement } });
    const capacity = { cpu: 12, memoryMb: 12 };
    const sessions = [1, 2].map(() => partition.attach({ slots: 9, capacity }).session);

    // Three of each fill a worker exactly; four of one leave two thirds of a kind empty.
    for (let n = 0; n < 6; n++) {
      partition.submit({ resources: { cpu: 3, memoryMb: 1 } });
      partition.submit({ resources: { cpu: 1, memoryMb: 3 } });
    }

    expect(sessions.map((session) => partition.heldBy(session).length)).toEqual([6, 6]);
  },
);

test('spread gives a task to the worker that it burdens least, for its size', () => {
  const partition = new TestPartition();
  const sessions = [2, 9, 4].map(
    (cpu) => partition.attach({ slots: 9, capacity: { cpu } }).session,
  );

  for (let n = 0; n < 7; n++) partition.submit({ resources: { cpu: 2 } });

  expect(sessions.map((session) => partition.heldBy(session))).toEqual([[4], [1, 2, 5, 7], [3, 6]]);
});

test('drain: the worker gets nothing new and keeps what it runs', () => {
  const partition = new TestPartition();
  const { session, connection } = partition.attach({ slots: 5 });
  partition.submit({});

  expect(partition.drain(session)).toBe(true);
  partition.submit({});
  const held = partition.heldBy(session);
  succeed(partition, session);
  partition.disconnect(session, connection);
  partition.resume(session, [], { slots: 5 });

  expect(held).toEqual([1]);
  expect(partition.task(1).state).toBe('succeeded');
  expect(partition.heldBy(session)).toEqual([]);
  expect(partition.drain('nobody' as SessionId)).toBe(false);
});

test('a session of another namespace cannot be drained', () => {
  const partition = new TestPartition();
  const { session } = partition.attach();

  partition.namespace = 'other';

  expect(partition.drain(session)).toBe(false);
});

test('tasks of several lanes go in line, also when one of them opened twice', () => {
  const partition = new TestPartition();
  partition.attach({ slots: 5 });
  partition.grantsLeases = false;
  partition.submit({});
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });
  const cpu = { resources: { cpu: 1 } };
  partition.submit({}, { ...cpu, priority: 0 }, cpu, {});
  partition.grantsLeases = true;

  partition.hear();

  expect(partition.pushes.map(({ task }) => task)).toEqual([2, 4, 5, 3]);
});

/** The worker finishes the oldest task that it holds. */
function succeed(partition: TestPartition, session: SessionId): void {
  partition.report(session, { kind: 'succeeded', lease: partition.leasesOf(session)[0] });
}
