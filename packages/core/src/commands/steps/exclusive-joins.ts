import { isBlobReference } from '../../base/blob-reference.ts';
import { NO_SLOT } from '../../base/ids.ts';
import { slotOf } from '../../decision/runs/run-place.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import type { StepNode } from '../../workflow/program.ts';
import {
  isStepOver,
  STEP_SKIPPED,
  STEP_SUCCEEDED,
  STEP_WITH_ERRORS,
} from '../../workflow/run-state.ts';
import { endStep, type StepVisit } from '../runs/end-steps.ts';

/**
 * Goes on with the first of its members that is over, in their order. Behind a fork the first
 * arrival makes it due, and `endStep` leaves out the later ones.
 */
export function endExclusiveJoin(at: StepVisit): void {
  const { decision, program, node } = at;
  const { runs } = decision.state;
  const taken = node.members
    .map((place) => ({
      member: program.nodes[place],
      slot: slotOf(runs, at, program.nodes[place]),
    }))
    .find(({ slot }) => slot !== NO_SLOT && hasRun(runs.steps.state[slot]));
  const hasErrors = taken !== undefined && runs.steps.state[taken.slot] === STEP_WITH_ERRORS;
  const output = taken === undefined ? undefined : outputOf(at, taken.member, taken.slot);
  endStep(at, {
    state: hasErrors ? STEP_WITH_ERRORS : STEP_SUCCEEDED,
    nexts: node.nexts,
    ...(output === undefined ? {} : { output }),
  });
}

function hasRun(state: number): boolean {
  return isStepOver(state) && state !== STEP_SKIPPED;
}

/** A blob is handed on as it is. */
function outputOf(at: StepVisit, member: StepNode, slot: number): PayloadRange | undefined {
  const { state, runWork } = at.decision;
  const { runs, tasks, payloads } = state;
  const task = runs.steps.link[slot] - 1;
  const length = task < 0 ? runs.steps.outputLength[slot] : tasks.resultLength[task];
  if (length > 0) {
    const reference = task < 0 ? runs.steps.output[slot] : tasks.result[task];
    const bytes = payloads.bytesOf(reference);
    const start = payloads.startOf(reference);
    if (isBlobReference(bytes, start, length)) return { bytes, start, end: start + length };
  }
  return runWork.values.outputOf(at, member);
}
