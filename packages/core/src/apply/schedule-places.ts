import { NO_SLOT } from '../base/ids.ts';
import { countsFromEnd } from '../state/schedules/schedules.ts';
import type { State } from '../state/state.ts';

interface End {
  readonly made: number;
  readonly at: number;
  readonly wasCancelled: boolean;
}

/** A task or run ended. A schedule that waited for it goes on (schedules.watched). */
export function noteEnd({ schedules, changes }: State, end: End): void {
  const slot = schedules.watcherOf(end.made);
  if (slot === NO_SLOT) return;
  const { table, replicas } = schedules;
  changes.noteSchedule(slot);
  schedules.unwatch(end.made);
  if (replicas.of(slot).some(({ made }) => made === end.made)) {
    replicas.end(slot, end);
    replicas.trim(slot, table.replicas[slot]);
  } else {
    table.isBlocked[slot] = 0;
    table.releasedAt[slot] = end.at;
    if (countsFromEnd(table.wait[slot]) && table.nextAt[slot] === 0 && table.delayMs[slot] > 0) {
      table.nextAt[slot] = end.at + table.delayMs[slot];
    }
  }
  schedules.retime(slot);
}
