import { expect, test } from 'vitest';
import { MATCHING_DEFAULTS } from '../../decision/matching-options.ts';
import { TestPartition } from '../test-partition.ts';
import type { Carried } from './carried-command.ts';
import { ModelFollower } from './follow-model.ts';

/** The model may be told of a command otherwise than it was. */
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
 * Two workers that each have no room for the first in line of their own kind, `a` and `b`, and
 * perhaps an idle one for `a`. Nothing is leased while the tasks come, for longer than the bound.
 */
function rested(partition: TestPartition, { hasIdle }: { readonly hasIdle: boolean }): void {
  const big = { resources: { slots: 4 }, priority: 8 };
  const first = partition.attach({ types: ['a'], slots: 4 });
  const second = partition.attach({ types: ['b'], slots: 4 });
  partition.submit({ type: 'a' }, { type: 'b' });
  const idle = hasIdle ? [partition.attach({ types: ['a'], slots: 4 })] : [];
  partition.grantsLeases = false;
  partition.submit({ type: 'a', ...big }, { type: 'b', ...big }, { type: 'a' }, { type: 'b' });
  // The last to be looked at is filled first.
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
 * A worker whose turn it is to be given the task that waited longest, 3, and which keeps its room
 * for a bigger one, 4, instead; then 5 is the first that it may take. Perhaps an idle one takes 4.
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
