import type { TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import type { BlobNeeded } from '../../decision/runs/blob-values.ts';
import {
  type EvaluationRequest,
  evaluationRequest,
  outputRequest,
} from '../../decision/runs/evaluation-request.ts';
import { type StepVisit, shownReference, type Visit } from '../runs/end-steps.ts';

/**
 * Steps that need values in blobs. Such a step asks the shell for all of them at once and is
 * entered with the answers. What is made of them is in the log; the answers are not. So a step that
 * cannot be entered then is due again and asks again.
 */

/** The step waits for values in blobs. False if it would not get what it needs. */
export function askForValues(at: StepVisit, needed: BlobNeeded): boolean {
  const { decision, step } = at;
  const { steps } = decision.state.runs;
  asked(at, { step: step + 1, evaluation: steps.evaluation[step] + 1 });
  return pushed(decision, evaluationRequest(decision, step), needed);
}

/** The run waits for values in blobs that its output needs. */
export function askForOutput(visit: Visit, needed: BlobNeeded): boolean {
  const { decision, run } = visit;
  const { table } = decision.state.runs;
  asked(visit, { step: 0, evaluation: table.evaluation[run] + 1 });
  return pushed(decision, outputRequest(decision, run), needed);
}

/** Nothing is waited for any more: the step is due again, or the run has to end. */
export function forgetQuestions(visit: Visit, step?: number): void {
  asked(visit, { step: step === undefined ? 0 : step + 1, evaluation: 0 });
}

interface Asked {
  /** Slot of the step plus one; 0 for the output of the run. */
  readonly step: number;
  /** 0 for nothing. */
  readonly evaluation: number;
}

function asked(visit: Visit, { step, evaluation }: Asked): void {
  const { decision, run } = visit;
  const event = decision.events.valuesAsked;
  event.slot = run;
  event.task = decision.state.runs.table.number[run] as TaskNumber;
  event.step = step;
  event.evaluation = evaluation;
  event.reference = step === 0 ? '' : shownReference(visit, step - 1);
  decision.emit(event);
}

/** A question that is not among those that are asked would be asked for ever. */
function pushed(
  { outputs }: Decision,
  request: EvaluationRequest | undefined,
  { key }: BlobNeeded,
): boolean {
  if (request === undefined || !(JSON.parse(request.input) as string[]).includes(key)) return false;
  outputs.evaluations.push(request);
  return true;
}
