import { slotOf } from '../../decision/runs/run-place.ts';
import { kindOf, wholeValue } from '../../expressions/json-bytes.ts';
import { jsonText, VALUE_BYTES_MAX, ValueError } from '../../expressions/json-writer.ts';
import { mergeObjects } from '../../expressions/merge-objects.ts';
import { outputProblems, problemsText } from '../../schema/run-schemas.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import {
  RUN_CANCELLED,
  RUN_FAILED,
  RUN_SUCCEEDED,
  STEP_SUCCEEDED,
  STEP_WITH_ERRORS,
} from '../../workflow/run-state.ts';
import { endStep, type StepVisit, stopRun, type Visit } from '../runs/end-steps.ts';
import { fillInput, jsonBytes, parsed } from './fill-template.ts';

/** Texts are compared as they are, other scalars as JSON, a missing value as null. */
export function decideSwitch(at: StepVisit): void {
  const { decision, node } = at;
  const input = parsed(decision, fillInput(at)) as Record<string, unknown>;
  takeCase(at, input[node.decidedBy] ?? null);
}

/** Ends a SWITCH with the case that a value names. */
export function takeCase(at: StepVisit, value: unknown): void {
  const { decision, node } = at;
  const chosen = typeof value === 'string' ? value : jsonText(value);
  const output = jsonBytes(decision, { evaluationResult: [chosen], selectedCase: chosen });
  const nexts = node.cases.get(chosen) ?? node.otherwise;
  endStep(at, { state: STEP_SUCCEEDED, output, nexts });
}

export function setVariables(at: StepVisit): void {
  const { decision, run, node } = at;
  const { runWork, state } = decision;
  const { table } = state.runs;
  const given = fillInput(at);
  if (kindOf(given) !== 'object') {
    throw new ValueError('bad_value', `its input must be an object, and it is a ${kindOf(given)}`);
  }
  let output = given;
  if (table.variablesLength[run] > 0) {
    const bytes = state.payloads.bytesOf(table.variables[run]);
    const start = state.payloads.startOf(table.variables[run]);
    const before = wholeValue(bytes, start, start + table.variablesLength[run]);
    const over = { ...given, bytes: given.bytes.slice(0, given.end) };
    runWork.value.clear();
    mergeObjects(before, over, { into: runWork.value, utf8: runWork.utf8 });
    output = { bytes: runWork.value.bytes, start: 0, end: runWork.value.length };
  }
  endStep(at, { state: STEP_SUCCEEDED, output, nexts: node.nexts });
}

const TERMINATIONS: Readonly<Record<string, number>> = {
  COMPLETED: RUN_SUCCEEDED,
  FAILED: RUN_FAILED,
  TERMINATED: RUN_CANCELLED,
};

export function terminate(at: StepVisit): void {
  const { decision, node, step } = at;
  const output = fillInput(at);
  const text = decision.runWork.utf8.decode(output.bytes.subarray(output.start, output.end));
  const input = JSON.parse(text) as Record<string, unknown>;
  const status = String(input.terminationStatus ?? 'COMPLETED');
  const outcome = TERMINATIONS[status] ?? RUN_FAILED;
  const result = jsonBytes(decision, input.workflowOutput ?? null);
  // Numbers may get longer when they are written again.
  if (result.end > VALUE_BYTES_MAX) {
    const what = `its workflowOutput has more than ${VALUE_BYTES_MAX} bytes`;
    throw new ValueError('value_too_large', what);
  }
  if (outcome === RUN_SUCCEEDED) checkOutput(at, result);
  endStep(at, { state: STEP_SUCCEEDED, output, nexts: [] });
  const reason = 'terminated' as const;
  if (outcome === RUN_SUCCEEDED) {
    stopRun(at, { outcome, reason, step, output: result });
    return;
  }
  const said = input.terminationReason;
  const message = typeof said === 'string' ? said : `step "${node.reference}" ended the run`;
  stopRun(at, { outcome, reason, step, message });
}

/** An output that does not fit the definition fails the run. */
export function checkOutput({ decision, program }: Visit, output: PayloadRange): void {
  const problems = outputProblems(program.schemas, output, decision.runWork.utf8);
  if (problems.length === 0) return;
  throw new ValueError('bad_value', `does not fit the outputSchema: ${problemsText(problems)}`);
}

const BRANCHES_PER_UNIT = 30;

/** An optional member that failed shows in the join. */
export function endJoin(at: StepVisit): void {
  const { decision, program, node } = at;
  const { runs } = decision.state;
  const { steps } = runs;
  const slots = node.members.map((place) => slotOf(runs, at, program.nodes[place]));
  let hasErrors = slots.some((step) => steps.state[step] === STEP_WITH_ERRORS);
  if (node.joinsFork >= 0) {
    const fork = slotOf(runs, at, program.nodes[node.joinsFork]);
    const first = steps.inner[fork] - 1;
    // Without branches there is no frame, and an optional fork may have failed itself.
    if (steps.state[fork] === STEP_WITH_ERRORS) hasErrors = true;
    for (let step = first; first >= 0 && step < first + steps.items[fork]; step++) {
      if (steps.state[step] === STEP_WITH_ERRORS) hasErrors = true;
    }
    // What comes next reads the outputs of all branches, so it has a command to itself.
    decision.runWork.spend(Math.floor(steps.items[fork] / BRANCHES_PER_UNIT));
  }
  const state = hasErrors ? STEP_WITH_ERRORS : STEP_SUCCEEDED;
  endStep(at, { state, nexts: node.nexts });
}
