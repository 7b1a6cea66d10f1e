import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import type { Template } from '../../expressions/template.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Program, StepNode } from '../../workflow/program.ts';
import { EVALUATES_VALUES } from '../../workflow/run-state.ts';
import { BlobNeeded } from './blob-values.ts';
import { runOutput } from './run-output.ts';
import { placeOf, type RunPlace, slotOf } from './run-place.ts';
import type { RunWork } from './run-work.ts';

/** A script that the shell is asked to evaluate, or values in blobs that it is asked for. */
export interface EvaluationRequest {
  /** Number of the run, and slot of the step; `NO_SLOT` for the output of the run. */
  readonly run: number;
  readonly step: number;
  readonly evaluation: number;
  readonly namespace: string;
  readonly language: 'javascript' | 'jq' | 'extract';
  /** Empty for `extract`. */
  readonly source: string;
  /** JSON text of what the script sees as `$`; for `extract` the list of questions. */
  readonly input: string;
}

interface Asking {
  readonly state: ReadonlyState;
  readonly runWork: RunWork;
}

/** What the step in this slot asks for; undefined when it asks for nothing. */
export function evaluationRequest(asking: Asking, step: number): EvaluationRequest | undefined {
  const { state, runWork } = asking;
  const { steps, table } = state.runs;
  if (steps.isEvaluating[step] === 0) return undefined;
  const run = steps.run[step] as Slot;
  const program = programOf(asking, run);
  const where = placeOf(state.runs, program, step);
  const node = program.nodes[steps.node[step]];
  const request = {
    run: table.number[run],
    step,
    evaluation: steps.evaluation[step],
    namespace: state.programs.at(table.program[run]).namespace,
  };
  if (steps.isEvaluating[step] === EVALUATES_VALUES) {
    return { ...request, ...extraction(readsOf(asking, where, node), runWork) };
  }
  const language = node.kind === 'JSON_JQ_TRANSFORM' ? 'jq' : 'javascript';
  const script = { ...request, language, source: node.script } as const;
  if (node.kind === 'DO_WHILE') return { ...script, ...condition(asking, { program, step }) };
  const { utf8, values } = runWork;
  const input = values.payload(steps.input[step], steps.inputLength[step]);
  if (input === undefined) return { ...script, input: '{}' };
  return { ...script, input: utf8.decode(input.bytes.subarray(input.start, input.end)) };
}

/** What the output of a run needs; undefined when it waits for nothing. */
export function outputRequest(asking: Asking, run: Slot): EvaluationRequest | undefined {
  const { state, runWork } = asking;
  const { table } = state.runs;
  if (table.isEvaluating[run] === 0) return undefined;
  const read = () => runOutput(asking, { run, program: programOf(asking, run) });
  return {
    run: table.number[run],
    step: NO_SLOT,
    evaluation: table.evaluation[run],
    namespace: state.programs.at(table.program[run]).namespace,
    ...extraction([read], runWork),
  };
}

/** Everything that is waited for: a server that starts asks for each of them again. */
export function openEvaluations(asking: Asking): EvaluationRequest[] {
  const { steps, table } = asking.state.runs;
  const open: EvaluationRequest[] = [];
  const add = (request: EvaluationRequest | undefined): void => {
    if (request !== undefined) open.push(request);
  };
  for (let step = 0; step < steps.used; step++) {
    if (steps.isEvaluating[step] !== 0) add(evaluationRequest(asking, step));
  }
  for (let run = 0; run < table.used; run++) {
    if (table.number[run] !== 0) add(outputRequest(asking, run as Slot));
  }
  return open;
}

function programOf({ state, runWork }: Asking, run: Slot): Program {
  return runWork.programs.of(state.programs.at(state.runs.table.program[run]));
}

function extraction(reads: Iterable<() => void>, { values }: RunWork) {
  const keys = values.blobs.questions(reads);
  return { language: 'extract', source: '', input: JSON.stringify(keys) } as const;
}

/** Reads of all values that the step may need when it is entered. */
function* readsOf({ runWork }: Asking, where: RunPlace, node: StepNode): Iterable<() => void> {
  for (const { parts } of templatesOf(node)) {
    for (const part of parts) {
      if (!(part instanceof Uint8Array)) yield () => runWork.values.find(where, part);
    }
  }
  if (node.kind !== 'EXCLUSIVE_JOIN') return;
  const { nodes } = where.program;
  for (const place of node.members) yield () => runWork.values.outputOf(where, nodes[place]);
}

function templatesOf({ input, fork, loop, child, callback, sink }: StepNode): Template[] {
  const ofFork =
    fork?.form === 'items'
      ? [fork.items, fork.name, fork.version]
      : fork && [fork.tasks, fork.inputs];
  const others = [...(ofFork ?? []), loop?.items, child?.which, callback?.to, sink];
  return [input, ...others.filter((each) => each !== undefined)];
}

interface LoopStep {
  readonly program: Program;
  readonly step: number;
}

/** The input of a condition; or what it needs of blobs, in order that it can be made. */
function condition(asking: Asking, loop: LoopStep) {
  try {
    return { input: conditionInput(asking, loop) };
  } catch (error) {
    if (!(error instanceof BlobNeeded)) throw error;
    return extraction([() => conditionInput(asking, loop)], asking.runWork);
  }
}

/**
 * The condition of a loop sees the inputs of the loop, `$.<loop>` with the number of the iteration,
 * and the outputs of its body by reference: only those that its text names, so that a large output
 * which it does not need does no harm.
 */
function conditionInput({ state, runWork }: Asking, { program, step }: LoopStep): string {
  const { runs } = state;
  const { steps } = runs;
  const { utf8, values, filler, value } = runWork;
  const node = program.nodes[steps.node[step]];
  const outside = placeOf(runs, program, step);
  const inside = { ...outside, frame: steps.inner[step] - 1 };
  const seen: Record<string, unknown> = {};
  unlessTooLarge(() => {
    value.clear();
    filler.fill(node.input, (part) => values.find(outside, part), value);
    Object.assign(seen, JSON.parse(utf8.decode(value.bytes.subarray(0, value.length))));
  });
  const { first, arrivals } = program.scopes[node.loop?.scope ?? 0];
  for (const each of program.nodes.slice(first, first + arrivals.length)) {
    if (!node.script.includes(each.reference)) continue;
    unlessTooLarge(() => {
      const output = slotOf(runs, inside, each) < 0 ? undefined : values.outputOf(inside, each);
      const range = output && values.blobs.whole(output);
      const text = range && utf8.decode(range.bytes.subarray(range.start, range.end));
      seen[each.reference] = text === undefined ? null : JSON.parse(text);
    });
  }
  seen[node.reference] = { iteration: steps.iteration[step] };
  try {
    return jsonText(seen);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return jsonText({ [node.reference]: { iteration: steps.iteration[step] } });
  }
}

/** The script sees what there is, without values that are too large. */
function unlessTooLarge(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ValueError) || error instanceof BlobNeeded) throw error;
  }
}
