import type { JsonRange } from '../../expressions/json-bytes.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { NO_PLACE } from '../../workflow/graph.ts';
import type { StepNode } from '../../workflow/program.ts';
import { isStepOver } from '../../workflow/run-state.ts';
import { outermost, type RunPlace } from './run-place.ts';
import type { RunWork } from './run-work.ts';

interface Asking {
  readonly state: ReadonlyState;
  readonly runWork: RunWork;
}

/** The output of a run whose steps are over; undefined for none. */
export function runOutput(asking: Asking, at: Omit<RunPlace, 'frame'>): JsonRange | undefined {
  const { state, runWork } = asking;
  const where = outermost(state.runs, at.run, at.program);
  const { output } = at.program;
  if (output === undefined) return lastOutput(asking, where);
  const { value, filler, values } = runWork;
  value.clear();
  filler.fill(output, (part) => values.find(where, part), value);
  return value.length === 0 ? undefined : { bytes: value.bytes, start: 0, end: value.length };
}

/** Without a template the output is that of the last step; after a SWITCH, of the case taken. */
function lastOutput({ state, runWork }: Asking, where: RunPlace): JsonRange | undefined {
  const { program, frame } = where;
  const { steps } = state.runs;
  let node: StepNode = program.nodes[program.last];
  while (node.kind === 'SWITCH' && isStepOver(steps.state[frame + node.place])) {
    const last = lastOfCase(runWork, where, node);
    if (last === NO_PLACE) break;
    node = program.nodes[last];
  }
  return runWork.values.outputOf(where, node);
}

function lastOfCase({ utf8, values }: RunWork, where: RunPlace, node: StepNode): number {
  const output = values.outputOf(where, node);
  if (output === undefined) return NO_PLACE;
  const text = utf8.decode(output.bytes.subarray(output.start, output.end));
  const { selectedCase } = JSON.parse(text) as { selectedCase: string };
  return node.lastOfCases.get(selectedCase) ?? node.lastOtherwise;
}
