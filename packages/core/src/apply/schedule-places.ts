import { NO_SLOT, type Slot } from '../base/ids.ts';
import { countsFromEnd } from '../state/schedules/schedules.ts';
import type { State } from '../state/state.ts';

interface End {
  readonly made: number;
  readonly at: number;
  readonly wasCancelled: boolean;
}

/** A task or run ended. A schedule that waited for it goes on (schedules.watched). */
export function noteEnd(state: State, end: End): void {
  const { schedules, changes } = state;
  const slot = schedules.watcherOf(end.made);
  if (slot === NO_SLOT) return;
  const { table, replicas } = schedules;
  changes.noteSchedule(slot);
  schedules.unwatch(end.made);
  if (replicas.of(slot).some(({ made }) => made === end.made)) {
    replicas.end(slot, end);
    replicas.trim(slot, table.replicas[slot]);
  } else if (schedules.earlier.remove(slot, end.made)) {
    return;
  } else if (!takeEarlier(state, slot)) {
    table.isBlocked[slot] = 0;
    table.releasedAt[slot] = end.at;
    if (countsFromEnd(table.wait[slot]) && table.nextAt[slot] === 0 && table.delayMs[slot] > 0) {
      table.nextAt[slot] = end.at + table.delayMs[slot];
    }
  }
  schedules.retime(slot);
}

/** The newest of the earlier works takes the place of the last one, which has ended. */
export function takeEarlier({ schedules }: State, slot: Slot): boolean {
  const { table, earlier } = schedules;
  const work = [...earlier.of(slot).values()].at(-1);
  if (work === undefined) return false;
  earlier.remove(slot, work.made);
  table.made[slot] = work.made;
  table.madeAt[slot] = work.madeAt;
  table.madeRun[slot] = work.isRun ? 1 : 0;
  return true;
}
