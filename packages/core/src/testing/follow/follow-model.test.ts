import { expect, test } from 'vitest';
import { MATCHING_DEFAULTS } from '../../decision/matching-options.ts';
import { TestPartition } from '../test-partition.ts';
import type { Carried } from './carried-command.ts';
import { ModelFollower } from './follow-model.ts';

/** `told` may tell the model something different from what happened. */
function followed(
  told: (carried: Carried) => Carried = (carried) => carried,
  matching = MATCHING_DEFAULTS,
): TestPartition {
  let follower: ModelFollower | undefined;
  const watch = (carried: Carried) => follower?.follow(told(carried));
  const partition = new TestPartition({}, { watch, matching });
  follower = new ModelFollower(partition.limits, matching);
  return partition;
}

/**
 * Two workers, each without room for the first task of its type, `a` or `b`, and optionally an idle
 * worker for `a`. No leases are granted while the tasks arrive, for longer than the limit.
 */
function rested(partition: TestPartition, { hasIdle }: { readonly hasIdle: boolean }): void {
  const big = { resources: { slots: 4 }, priority: 8 };
  const first = partition.attach({ types: ['a'], slots: 4 });
  const second = partition.attach({ types: ['b'], slots: 4 });
  partition.submit({ type: 'a' }, { type: 'b' });
  const idle = hasIdle ? [partition.attach({ types: ['a'], slots: 4 })] : [];
  partition.grantsLeases = false;
  partition.submit({ type: 'a', ...big }, { type: 'b', ...big }, { type: 'a' }, { type: 'b' });
  // The session added last is filled first.
  for (const { session, connection } of [...idle, second, first]) {
    partition.read(session, connection, 0);
  }
  partition.now += MATCHING_DEFAULTS.reserveAfterMs;
  partition.grantsLeases = true;
}

test('room that was kept within a command, for a task that it pushed, counts as kept', () => {
  const partition = followed();
  rested(partition, { hasIdle: true });

  partition.hear();

  expect(partition.pushes.map(({ task }) => task)).toEqual([6, 3, 5]);
  expect(partition.reservations()).toEqual(new Map());
});

test('a task that is overtaken where nobody keeps room for another is noticed', () => {
  const hidden = followed((carried) => ({ ...carried, reserved: new Map() }));
  rested(hidden, { hasIdle: false });

  expect(() => hidden.hear()).toThrow(/4 is overtaken at/);
});

/**
 * It is the worker's turn to take the task that waited longest, 3. It reserves its room for a
 * bigger task, 4, instead; then 5 is the first task that it may take. Optionally an idle worker
 * takes 4.
 */
function keptAtTurn(partition: TestPartition, { hasIdle }: { readonly hasIdle: boolean }): void {
  const worker = partition.attach({ slots: 4 });
  partition.submit({}, {});
  if (hasIdle) partition.attach({ slots: 4 });
  partition.grantsLeases = false;
  partition.submit({ priority: 0 });
  partition.now += 1;
  partition.submit({ resources: { slots: 4 } }, { priority: 8 });
  partition.read(worker.session, worker.connection, 0);
  partition.now += MATCHING_DEFAULTS.ageAfterMs;
  partition.grantsLeases = true;
}

const EVERY_OTHER = { ...MATCHING_DEFAULTS, agedLeaseEvery: 2 };

test('a turn may fall to room that was kept within a command', () => {
  const partition = followed(undefined, EVERY_OTHER);
  keptAtTurn(partition, { hasIdle: true });

  partition.hear();

  expect(partition.pushes.map(({ task }) => task)).toEqual([5, 4, 3]);
  expect(partition.reservations()).toEqual(new Map());
});

test('a turn that somebody else gets although no room was kept is noticed', () => {
  const hidden = followed((carried) => ({ ...carried, reserved: new Map() }), EVERY_OTHER);
  keptAtTurn(hidden, { hasIdle: false });

  expect(() => hidden.hear()).toThrow('task 5 goes before 3');
});
