import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findRun } from '../../state/find-run.ts';
import { RUN_PAUSED, RUN_RUNNING } from '../../workflow/run-state.ts';

export interface PauseRuns extends Timed, Authored {
  readonly type: 'pause_runs';
  readonly ids: readonly string[];
  /** False to resume. */
  readonly isPause: boolean;
}

export interface PauseOutcome {
  readonly rejection?: 'run_not_found' | 'run_finished';
  readonly slot: Slot;
}

/**
 * Pauses or resumes runs. Tasks under way go on, and their ends are kept, but no step begins while
 * a run is paused. A resumed run has its whole time again.
 */
export function decidePauseRuns(
  decision: Decision,
  { namespace, ids, by, isPause }: PauseRuns,
): { readonly outcomes: readonly PauseOutcome[] } {
  const { state } = decision;
  const { table } = state.runs;
  let changed = 0;
  const outcomes = ids.map((id): PauseOutcome => {
    const slot = findRun(state, namespace, id);
    if (slot === NO_SLOT) return { rejection: 'run_not_found', slot };
    const wanted = isPause ? RUN_PAUSED : RUN_RUNNING;
    if (table.state[slot] === wanted) return { slot };
    const isGoingOn = table.state[slot] === RUN_PAUSED || table.state[slot] === RUN_RUNNING;
    if (!isGoingOn) return { rejection: 'run_finished', slot };
    change(decision, slot, isPause);
    changed += 1;
    return { slot };
  });
  if (changed > 0) {
    audit(decision, by, { namespace, action: isPause ? 'runs_paused' : 'runs_resumed' });
  }
  return { outcomes };
}

function change({ state, emit, events, runWork, now }: Decision, run: Slot, isPause: boolean) {
  const { table, timers } = state.runs;
  const { timeoutMs } = runWork.programs.of(state.programs.at(table.program[run]));
  const event = events.runChanged;
  event.slot = run;
  event.task = table.number[run] as TaskNumber;
  event.state = isPause ? RUN_PAUSED : RUN_RUNNING;
  const before = timers.has(run) ? table.timerAt[run] : 0;
  const restarted = timeoutMs === 0 ? 0 : now + timeoutMs;
  event.until = isPause ? before : restarted;
  emit(event);
}
