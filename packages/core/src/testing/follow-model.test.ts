import { expect, test } from 'vitest';
import { MATCHING_DEFAULTS } from '../matching.ts';
import type { Carried } from './carried-command.ts';
import { ModelFollower } from './follow-model.ts';
import { TestPartition } from './test-partition.ts';

/** The model may be told of a command otherwise than it was. */
function followed(told: (carried: Carried) => Carried = (carried) => carried): TestPartition {
  let follower: ModelFollower | undefined;
  const watch = (carried: Carried) => follower?.follow(told(carried));
  const partition = new TestPartition({}, { watch });
  follower = new ModelFollower(partition.limits, MATCHING_DEFAULTS);
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
