import type { Slot } from '../../base/ids.ts';
import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Program } from '../../workflow/program.ts';
import { placeOf, slotOf } from './run-place.ts';
import type { RunWork } from './run-work.ts';

/** A script that the shell is asked to evaluate. */
export interface EvaluationRequest {
  /** Number of the run, and slot of the step. */
  readonly run: number;
  readonly step: number;
  readonly evaluation: number;
  readonly language: 'javascript' | 'jq';
  readonly source: string;
  /** JSON text of what the script sees as `$`. */
  readonly input: string;
}

/** What the step in this slot asks for; undefined when it asks for nothing. */
export function evaluationRequest(
  state: ReadonlyState,
  runWork: RunWork,
  step: number,
): EvaluationRequest | undefined {
  const { steps, table } = state.runs;
  if (steps.isEvaluating[step] === 0) return undefined;
  const run = steps.run[step] as Slot;
  const program = runWork.programs.of(state.programs.at(table.program[run]));
  const node = program.nodes[steps.node[step]];
  const request = {
    run: table.number[run],
    step,
    evaluation: steps.evaluation[step],
    language: node.kind === 'JSON_JQ_TRANSFORM' ? ('jq' as const) : ('javascript' as const),
    source: node.script,
  };
  if (node.kind === 'DO_WHILE') {
    return { ...request, input: conditionInput(state, runWork, { program, step }) };
  }
  const { utf8, values } = runWork;
  const input = values.payload(steps.input[step], steps.inputLength[step]);
  if (input === undefined) return { ...request, input: '{}' };
  return { ...request, input: utf8.decode(input.bytes.subarray(input.start, input.end)) };
}

/** All steps that wait for an evaluation: a server that starts asks for each of them again. */
export function openEvaluations({ runs }: ReadonlyState): number[] {
  const open: number[] = [];
  for (let step = 0; step < runs.steps.used; step++) {
    if (runs.steps.isEvaluating[step] === 1) open.push(step);
  }
  return open;
}

/**
 * The condition of a loop sees the inputs of the loop, `$.<loop>` with the number of the iteration,
 * and the outputs of its body by reference: only those that its text names, so that a large output
 * which it does not need does no harm.
 */
function conditionInput(
  state: ReadonlyState,
  runWork: RunWork,
  { program, step }: { readonly program: Program; readonly step: number },
): string {
  const { runs } = state;
  const { steps } = runs;
  const { utf8, values, filler, value } = runWork;
  const node = program.nodes[steps.node[step]];
  const outside = placeOf(runs, program, step);
  const inside = { ...outside, frame: steps.inner[step] - 1 };
  const seen: Record<string, unknown> = {};
  try {
    value.clear();
    filler.fill(node.input, (part) => values.find(outside, part), value);
    Object.assign(seen, JSON.parse(utf8.decode(value.bytes.subarray(0, value.length))));
    const { first, arrivals } = program.scopes[node.loop?.scope ?? 0];
    for (const each of program.nodes.slice(first, first + arrivals.length)) {
      if (!node.script.includes(each.reference)) continue;
      const output = slotOf(runs, inside, each) < 0 ? undefined : values.outputOf(inside, each);
      const text = output && utf8.decode(output.bytes.subarray(output.start, output.end));
      seen[each.reference] = text === undefined ? null : JSON.parse(text);
    }
  } catch (error) {
    // Too large, or in a blob: the script sees what there is.
    if (!(error instanceof ValueError)) throw error;
  }
  seen[node.reference] = { iteration: steps.iteration[step] };
  try {
    return jsonText(seen);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return jsonText({ [node.reference]: { iteration: steps.iteration[step] } });
  }
}
