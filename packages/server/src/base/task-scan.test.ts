import type { Slot, TaskNumber } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { type ScanPlace, scanStart, scanTasks } from './task-scan.ts';

test('every task that was there is seen once, whatever leaves and comes meanwhile', () => {
  const partition = new TestPartition({ finishedTasksMax: 0, tasksMax: 60 });
  const { session } = partition.attach({ slots: 10 });
  partition.submit(...Array.from({ length: 40 }, () => ({})));
  const seen: number[] = [];
  let place: ScanPlace | undefined = scanStart(partition.state);

  while (place !== undefined) {
    let count = 0;
    place = scanTasks(partition.state, place, (slot: Slot) => {
      seen.push(partition.state.tasks.number[slot] as TaskNumber);
      count += 1;
      return count === 5;
    });
    // Some tasks finish and leave memory, and others take their slots.
    for (const lease of partition.leasesOf(session).slice(0, 3)) {
      partition.report(session, { lease, kind: 'succeeded' });
    }
    partition.submit({}, {});
  }

  const left = Array.from({ length: 40 }, (_, n) => n + 1).filter((number) => {
    return partition.state.tasks.find(number as TaskNumber) >= 0;
  });
  expect(seen).toEqual([...new Set(seen)]);
  expect(seen.every((number) => number <= 40)).toBe(true);
  expect(seen).toEqual(expect.arrayContaining(left));
  expect(left.length).toBeLessThan(40);
});
