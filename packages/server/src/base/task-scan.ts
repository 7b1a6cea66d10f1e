import type { ReadonlyState, Slot } from '@sluice/core';

/** Slots scanned in one turn, so that other work is not delayed. */
const SLOTS_PER_SLICE = 20_000;

/** Where a scan continues. */
export interface ScanPlace {
  /** The next slot to scan. */
  readonly slot: number;
  /** Tasks with this number or a higher one came after the scan began, and are skipped. */
  readonly before: number;
}

export function scanStart({ nextTask }: ReadonlyState): ScanPlace {
  return { slot: 0, before: nextTask };
}

/**
 * Scans the tasks in memory, in slot order, until `visit` returns true or the slice is over.
 * Returns where to continue, or nothing when all tasks were seen.
 *
 * A task keeps its slot while it is in memory. So no task is missed and none is seen twice,
 * whatever comes and goes between two slices.
 */
export function scanTasks(
  { tasks }: ReadonlyState,
  { slot: first, before }: ScanPlace,
  visit: (slot: Slot) => boolean,
): ScanPlace | undefined {
  const last = Math.min(first + SLOTS_PER_SLICE, tasks.used);
  let slot = first;
  while (slot < last) {
    const number = tasks.number[slot];
    slot += 1;
    if (number === 0 || number >= before) continue;
    if (visit((slot - 1) as Slot)) break;
  }
  return slot < tasks.used ? { slot, before } : undefined;
}
