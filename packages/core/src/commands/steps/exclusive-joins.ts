import { NO_SLOT } from '../../base/ids.ts';
import { slotOf } from '../../decision/runs/run-place.ts';
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
  const output = taken && decision.runWork.values.outputOf(at, taken.member);
  endStep(at, {
    state: hasErrors ? STEP_WITH_ERRORS : STEP_SUCCEEDED,
    nexts: node.nexts,
    ...(output === undefined ? {} : { output }),
  });
}

function hasRun(state: number): boolean {
  return isStepOver(state) && state !== STEP_SKIPPED;
}
