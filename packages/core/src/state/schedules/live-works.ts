import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { isTerminal } from '../../task/task-state.ts';
import { isRunOver } from '../../workflow/run-state.ts';
import type { MadeWork } from './earlier-works.ts';
import type { SchedulesReader } from './schedules.ts';

interface Works {
  readonly state: ArrayLike<number>;
  find(number: never): Slot;
}

interface Place {
  readonly tasks: Works;
  readonly runs: { readonly table: Works };
}

/** Whether a task or run has not ended. One that left memory has. */
export function isLive({ tasks, runs }: Place, { made, isRun }: MadeWork): boolean {
  if (made === 0) return false;
  const slot = isRun ? runs.table.find(made as never) : tasks.find(made as never);
  if (slot === NO_SLOT) return false;
  return isRun ? !isRunOver(runs.table.state[slot]) : !isTerminal(tasks.state[slot]);
}

/** What the last fire of the schedule made; `made` is 0 when it made nothing. */
export function lastMade(schedules: SchedulesReader, slot: Slot): MadeWork {
  const { made, madeAt, madeRun } = schedules.table;
  return { made: made[slot], madeAt: madeAt[slot], isRun: madeRun[slot] === 1 };
}

/** What the schedule made and `overlap` looks at, as far as it has not ended. */
export function liveWorks(
  state: Place & { readonly schedules: SchedulesReader },
  slot: Slot,
): MadeWork[] {
  const { schedules } = state;
  const last = lastMade(schedules, slot);
  const earlier = [...schedules.earlier.of(slot).values()];
  return isLive(state, last) ? [...earlier, last] : earlier;
}
