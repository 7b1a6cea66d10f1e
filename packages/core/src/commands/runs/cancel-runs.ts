import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findRun } from '../../state/find-run.ts';
import { isRunOver, RUN_CANCELLED, RUN_STOPPING } from '../../workflow/run-state.ts';
import { stopRun } from './end-steps.ts';

export interface CancelRuns extends Timed, Authored {
  readonly type: 'cancel_runs';
  readonly ids: readonly string[];
}

export interface RunOutcome {
  readonly rejection?: 'run_not_found' | 'run_finished';
  readonly slot: Slot;
}

/** Cancels runs. Tasks that nobody holds end at once; the workers of others are asked to stop. */
export function decideCancelRuns(
  decision: Decision,
  { namespace, ids, by }: CancelRuns,
): { readonly outcomes: readonly RunOutcome[] } {
  const { state, runWork } = decision;
  const { table } = state.runs;
  const outcomes = ids.map((id): RunOutcome => {
    const run = findRun(state, namespace, id);
    if (run === NO_SLOT) return { rejection: 'run_not_found', slot: run };
    if (table.state[run] === RUN_CANCELLED || table.state[run] === RUN_STOPPING) {
      return { slot: run };
    }
    if (isRunOver(table.state[run])) return { rejection: 'run_finished', slot: run };
    const program = runWork.programs.of(state.programs.at(table.program[run]));
    stopRun(
      { decision, run, program },
      { outcome: RUN_CANCELLED, reason: 'cancelled', message: 'the run was cancelled' },
    );
    return { slot: run };
  });
  if (outcomes.some(({ rejection }) => rejection === undefined)) {
    audit(decision, by, { namespace, action: 'runs_cancelled' });
  }
  return { outcomes };
}
