import type { ReadonlyState, Slot } from '@sluice/core';

/** So many slots are looked at in one turn: others wait for their turns meanwhile. */
const SLOTS_PER_SLICE = 20_000;

/** Where a scan goes on. */
export interface ScanPlace {
  /** The next slot to be looked at. */
  readonly slot: number;
  /** Tasks with this number or a higher one came after the scan began, and are not meant. */
  readonly before: number;
}

export function scanStart({ nextTask }: ReadonlyState): ScanPlace {
  return { slot: 0, before: nextTask };
}

/**
 * Goes through the tasks in memory, in the order of their slots, until `visit` answers that it has
 * enough or the slice is over. Answers where to go on, or nothing when all were seen.
 *
 * A task keeps its slot for as long as it is in memory, so none is missed and none is seen twice,
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
