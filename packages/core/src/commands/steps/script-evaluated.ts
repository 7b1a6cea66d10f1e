import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { evaluationRequest } from '../../decision/runs/evaluation-request.ts';
import type { BlobAnswer } from '../../expressions/blob-questions.ts';
import { jsonText, VALUE_BYTES_MAX, ValueError } from '../../expressions/json-writer.ts';
import {
  EVALUATES_VALUES,
  RESET_DUE_ON,
  RUN_RUNNING,
  RUN_STOPPING,
  STEP_FAILED,
  STEP_SUCCEEDED,
} from '../../workflow/run-state.ts';
import { endStep, NOTHING, type StepVisit, shownReference, visitStep } from '../runs/end-steps.ts';
import { forgetQuestions } from './blob-steps.ts';
import { enterStep, nextsAfterFailure } from './enter-step.ts';
import { failAtEnd, finishRun } from './finish-run.ts';
import { takeCase } from './immediate-steps.ts';
import { goOn } from './loop-steps.ts';
import { REST_MS } from './proceed.ts';

/** What the script of a step gave, or what was found in blobs. */
export interface EvaluationResult {
  /** Number of the run, and slot of the step; `NO_SLOT` for the output of the run. */
  readonly run: number;
  readonly step: number;
  readonly evaluation: number;
  /** JSON text; undefined when the script failed. */
  readonly value?: string;
  /** What was found in blobs. */
  readonly values?: readonly BlobAnswer[];
  /** Why it failed. */
  readonly message?: string;
}

/** Scripts were evaluated. */
export interface ScriptsEvaluated {
  readonly type: 'scripts_evaluated';
  readonly now: number;
  readonly results: readonly EvaluationResult[];
}

/** Results that are no longer awaited are left out: the step ended, or asked again. */
export function decideScriptsEvaluated(
  decision: Decision,
  { results }: ScriptsEvaluated,
): { readonly stale: number } {
  let stale = 0;
  for (const result of results) {
    if (!isAwaited(decision, result)) stale += 1;
    else if (result.step === NO_SLOT) takeOutputValues(decision, result);
    else takeOrFail(decision, result);
  }
  return { stale };
}

function isAwaited({ state }: Decision, { run, step, evaluation }: EvaluationResult): boolean {
  const { steps, table } = state.runs;
  if (step === NO_SLOT) {
    const found = table.find(run as TaskNumber);
    const isSame = found !== NO_SLOT && table.evaluation[found] === evaluation;
    return isSame && table.isEvaluating[found] === 1;
  }
  if (step >= steps.used) return false;
  const slot = steps.run[step];
  const isSame = table.number[slot] === run && steps.evaluation[step] === evaluation;
  return isSame && steps.isEvaluating[step] !== 0 && table.state[slot] !== RUN_STOPPING;
}

function takeOrFail(decision: Decision, result: EvaluationResult): void {
  const { state, runWork } = decision;
  const { steps, table } = state.runs;
  const run = steps.run[result.step] as Slot;
  const program = runWork.programs.of(state.programs.at(table.program[run]));
  const at = visitStep({ decision, run, program }, result.step);
  if (steps.isEvaluating[result.step] === EVALUATES_VALUES) return enterWithValues(at, result);
  if (result.values !== undefined) return askForCondition(at, result.values);
  try {
    take(at, result);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    fail(at, error.message);
  }
}

/** Enters a step whose values are there. One that cannot be entered now asks again when it can. */
function enterWithValues(at: StepVisit, { values, message }: EvaluationResult): void {
  const { decision, run, step, node } = at;
  const { state, runWork } = decision;
  if (values === undefined) {
    const said = `step "${shownReference(at, step)}": ${message ?? 'its values were not found'}`;
    const end = { state: STEP_FAILED, reason: 'bad_value', message: said } as const;
    endStep(at, { ...end, nexts: nextsAfterFailure(node) });
    return;
  }
  const isGoingOn = state.runs.table.state[run] === RUN_RUNNING;
  const enter = (): boolean => isGoingOn && enterStep(at, step);
  if (runWork.values.blobs.during(values, enter)) return;
  if (isGoingOn) runWork.restsUntil = decision.now + REST_MS;
  forgetQuestions(at, step);
}

/** The values are there that the condition of a loop needs, so its script can be evaluated. */
function askForCondition({ decision, step }: StepVisit, values: readonly BlobAnswer[]): void {
  const { blobs } = decision.runWork.values;
  const request = blobs.during(values, () => evaluationRequest(decision, step));
  if (request !== undefined) decision.outputs.evaluations.push(request);
}

/** The values are there that the output of a run needs, so the run ends. */
function takeOutputValues(decision: Decision, { run: number, values, message }: EvaluationResult) {
  const { state, runWork } = decision;
  const { table } = state.runs;
  const run = table.find(number as TaskNumber);
  const visit = {
    decision,
    run,
    program: runWork.programs.of(state.programs.at(table.program[run])),
  };
  const finish = (): boolean => {
    if (table.state[run] !== RUN_RUNNING) return false;
    if (values !== undefined) return finishRun(visit);
    return failAtEnd(visit, 'bad_value', `the output of the run: ${message ?? 'not found'}`);
  };
  if (!runWork.values.blobs.during(values ?? [], finish)) forgetQuestions(visit);
}

function take(at: StepVisit, { value, message }: EvaluationResult): void {
  const { runWork } = at.decision;
  const bytes = runWork.utf8.encode(value ?? '');
  if (value === undefined) fail(at, message ?? 'the script failed');
  else if (bytes.length > VALUE_BYTES_MAX - 16) {
    fail(at, `its script gave more than ${VALUE_BYTES_MAX} bytes`);
  } else if (at.node.kind === 'DO_WHILE') takeCondition(at, JSON.parse(value));
  else if (at.node.kind === 'SWITCH') takeCase(at, JSON.parse(value));
  else {
    const isQuery = at.node.kind === 'JSON_JQ_TRANSFORM';
    const output = runWork.utf8.encode(isQuery ? queryOutput(value) : `{"result":${value}}`);
    if (output.length > VALUE_BYTES_MAX) {
      fail(at, `its output has more than ${VALUE_BYTES_MAX} bytes`);
      return;
    }
    const range = { bytes: output, start: 0, end: output.length };
    endStep(at, { state: STEP_SUCCEEDED, output: range, nexts: at.node.nexts });
  }
}

/** The first value that a query gave, and all of them. */
function queryOutput(value: string): string {
  const given: unknown = JSON.parse(value);
  const resultList: readonly unknown[] = Array.isArray(given) ? given : [given];
  return jsonText({ result: resultList[0] ?? null, resultList });
}

/** True, or a number above 0, means to go on. */
function takeCondition(at: StepVisit, value: unknown): void {
  const isWanted = value === true || (typeof value === 'number' && value > 0);
  if (goOn(at, isWanted)) return;
  // There is no room for an iteration any more. The loop asks again when there is.
  const { decision, run, step } = at;
  const event = decision.events.stepsReset;
  event.slot = run;
  event.task = decision.state.runs.table.number[run] as TaskNumber;
  Object.assign(event, { steps: [step], waiting: [0], kinds: [RESET_DUE_ON], frames: [] });
  Object.assign(event.input, NOTHING);
  decision.emit(event);
}

function fail(at: StepVisit, why: string): void {
  const { node, step } = at;
  const message = `step "${shownReference(at, step)}": ${why}`;
  endStep(at, {
    state: STEP_FAILED,
    reason: 'script_failed',
    message,
    nexts: nextsAfterFailure(node),
  });
}
