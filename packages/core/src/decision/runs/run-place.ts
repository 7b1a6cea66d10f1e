import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { RunsReader } from '../../state/runs/runs.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Program, StepNode } from '../../workflow/program.ts';
import type { Branches } from './branches.ts';

/** A run, and the frame in which something of it is evaluated. */
export interface RunPlace {
  readonly run: Slot;
  readonly program: Program;
  /** Slot of the first step of the frame. */
  readonly frame: number;
}

/** The place of a run outside of its loops. */
export function outermost({ table }: RunsReader, run: Slot, program: Program): RunPlace {
  return { run, program, frame: table.base[run] };
}

/** The place of the step in this slot. */
export function placeOf({ steps }: RunsReader, program: Program, step: number): RunPlace {
  const node = program.nodes[steps.node[step]];
  const { first, isFork } = program.scopes[node.scope];
  const frame = isFork ? steps.inner[steps.owner[step] - 1] - 1 : step - (node.place - first);
  return { run: steps.run[step] as Slot, program, frame };
}

/**
 * The slot of a step, as seen from a place: in the same iteration for the loops around that place,
 * in the newest one for others. `NO_SLOT` when its loop has not begun, or was passed over.
 */
export function slotOf(runs: RunsReader, place: RunPlace, node: StepNode): number {
  const { program } = place;
  const scope = program.scopes[node.scope];
  for (let frame = place.frame; ; ) {
    const here = runs.steps.node[frame];
    if (here === scope.first) return frame + node.place - scope.first;
    const owner = runs.steps.owner[frame];
    if (owner === 0) break;
    frame = placeOf(runs, program, owner - 1).frame;
  }
  const loop = slotOf(runs, place, program.nodes[scope.loop]);
  const inner = loop === NO_SLOT ? 0 : runs.steps.inner[loop];
  return inner === 0 ? NO_SLOT : inner - 1 + node.place - scope.first;
}

/** Its reference with the iterations of the loops around it: `ref__2`, or `ref__1__2`. */
export function referenceOf(
  { runs }: ReadonlyState,
  program: Program,
  step: number,
  branches: Branches,
): string {
  const { reference, scope } = program.nodes[runs.steps.node[step]];
  const name = program.scopes[scope].isFork ? branches.at(step).reference : reference;
  return name + suffixOf(runs, program, step);
}

function suffixOf(runs: RunsReader, program: Program, step: number): string {
  const { steps } = runs;
  const loop = steps.owner[step] - 1;
  if (loop < 0) return '';
  // The branches of a dynamic fork are in its iteration.
  if (steps.iteration[loop] === 0) return suffixOf(runs, program, loop);
  const { frame } = placeOf(runs, program, step);
  return `${suffixOf(runs, program, loop)}__${iterationOf(runs, loop, frame)}`;
}

/** The number of the iteration that has this frame. */
function iterationOf({ steps }: RunsReader, loop: number, frame: number): number {
  let iteration = steps.iteration[loop];
  let each = steps.inner[loop] - 1;
  while (each !== frame) {
    each = steps.earlier[each] - 1;
    iteration -= 1;
  }
  return iteration;
}

/** Start of the frame of an iteration of a loop; `NO_SLOT` when it is not in memory. */
export function frameAt({ steps }: RunsReader, loop: number, iteration: number): number {
  let number = steps.iteration[loop];
  for (let each = steps.inner[loop]; each !== 0; each = steps.earlier[each - 1]) {
    if (number === iteration) return each - 1;
    number -= 1;
  }
  return NO_SLOT;
}

/**
 * Finds a step by its reference, with the iterations of the loops around it. Without them it is the
 * newest iteration. `NO_SLOT` when there is no such step.
 */
export function findStep(
  { runs }: ReadonlyState,
  whole: RunPlace,
  reference: string,
  branches: Branches,
): number {
  const { program } = whole;
  const [name, ...iterations] = reference.split('__');
  const place = program.byReference.get(name);
  if (place !== undefined) return inIteration(runs, whole, program.nodes[place], iterations);
  for (const { isFork, loop } of program.scopes) {
    if (!isFork) continue;
    // The name of a branch may have underscores itself.
    for (let count = iterations.length; count >= 0; count--) {
      const within = iterations.slice(iterations.length - count);
      const fork = inIteration(runs, whole, program.nodes[loop], within);
      const length = reference.length - within.reduce((sum, { length }) => sum + length + 2, 0);
      const branch = fork === NO_SLOT ? undefined : branches.find(fork, reference.slice(0, length));
      if (branch !== undefined) return branch;
    }
  }
  return NO_SLOT;
}

function inIteration(
  runs: RunsReader,
  whole: RunPlace,
  node: StepNode,
  iterations: readonly string[],
): number {
  const { program } = whole;
  if (iterations.length === 0) return slotOf(runs, whole, node);
  const loops: StepNode[] = [];
  for (let at = node; at.scope !== 0; at = loops[0]) {
    loops.unshift(program.nodes[program.scopes[at.scope].loop]);
  }
  if (loops.length !== iterations.length) return NO_SLOT;
  let where = whole;
  for (const [index, loop] of loops.entries()) {
    const frame = frameAt(runs, slotOf(runs, where, loop), Number(iterations[index]));
    if (frame === NO_SLOT) return NO_SLOT;
    where = { ...whole, frame };
  }
  return slotOf(runs, where, node);
}
