import { NO_SLOT, type ReadonlyState, type Slot, type TaskNumber } from '@sluice/core';

/** So many numbers are looked at in one turn: others wait for their turns meanwhile. */
const NUMBERS_PER_SLICE = 20_000;

/** Where a scan goes on. */
export interface ScanPlace {
  /** The next number to be looked at, downwards; 0 at the end. */
  readonly number: number;
  /** Tasks in memory that were passed. */
  readonly passed: number;
}

export function scanStart({ nextTask }: ReadonlyState): ScanPlace {
  return { number: nextTask - 1, passed: 0 };
}

/**
 * Goes through the tasks in memory, newest first, until `visit` answers that it has enough or the
 * slice is over. Answers where to go on, or nothing when all were seen.
 *
 * Numbers of tasks that left memory are passed over. When as many tasks were seen as there are, the
 * numbers below are all of that kind.
 */
export function scanTasks(
  state: ReadonlyState,
  place: ScanPlace,
  visit: (slot: Slot) => boolean,
): ScanPlace | undefined {
  let { number, passed } = place;
  const last = Math.max(0, number - NUMBERS_PER_SLICE);
  while (number > last && passed < state.tasks.count) {
    const slot = state.tasks.find(number as TaskNumber);
    number -= 1;
    if (slot === NO_SLOT) continue;
    passed += 1;
    if (visit(slot)) break;
  }
  return number > 0 && passed < state.tasks.count ? { number, passed } : undefined;
}
