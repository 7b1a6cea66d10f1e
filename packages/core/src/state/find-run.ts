import { NO_SLOT, type Slot } from '../base/ids.ts';
import { parseRunId } from '../base/run-id.ts';
import { isStepLive } from '../workflow/run-state.ts';
import type { ReadonlyState } from './state.ts';

/** Finds a run by its id. `NO_SLOT` when it is not in memory or belongs to another namespace. */
export function findRun(state: ReadonlyState, namespace: string, id: string): Slot {
  const key = parseRunId(id);
  if (key === undefined || key.partition !== state.partition) return NO_SLOT;
  const { table } = state.runs;
  const run = table.find(key.number);
  if (run === NO_SLOT || table.startedAt[run] !== key.submittedAt) return NO_SLOT;
  return state.programs.at(table.program[run]).namespace === namespace ? run : NO_SLOT;
}

/** The step that waited for this run has not taken its output yet. */
export function isAwaited({ runs }: ReadonlyState, run: Slot): boolean {
  const { table, steps } = runs;
  const step = table.parentStep[run] - 1;
  return step >= 0 && steps.child[step] === table.number[run] && isStepLive(steps.state[step]);
}
