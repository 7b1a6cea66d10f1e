import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { RUN_TIMED_OUT, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { endStep, stopRun, visitStep } from './end-steps.ts';

/** Ends waits and runs whose time has come, at most this many; returns how many. */
export function fireRunTimers(decision: Decision, most: number): number {
  const { state, runWork, now } = decision;
  const { timers, stepTimers, table, steps } = state.runs;
  const programOf = (run: Slot) => runWork.programs.of(state.programs.at(table.program[run]));
  let fired = 0;
  for (; fired < most; fired++) {
    const step = stepTimers.firstDue(now);
    if (step === NO_SLOT) break;
    const run = steps.run[step] as Slot;
    const at = visitStep({ decision, run, program: programOf(run) }, step);
    endStep(at, { state: STEP_SUCCEEDED, nexts: at.node.nexts });
  }
  for (; fired < most; fired++) {
    const run = timers.firstDue(now);
    if (run === NO_SLOT) break;
    const program = programOf(run);
    const message = `the run took longer than its timeout of ${program.timeoutMs / 1000} s`;
    const stop = { outcome: RUN_TIMED_OUT, reason: 'run_timeout' as const, message };
    stopRun({ decision, run, program }, stop);
  }
  return fired;
}
