import type { Slot } from '../../base/ids.ts';
import { invariant } from '../../base/invariant.ts';
import type { ProgramsReader, StoredProgram, StoredScope } from './programs.ts';
import type { RunsReader } from './runs.ts';

/** The parts of the state that runs are in. */
interface RunState {
  readonly runs: RunsReader;
  readonly programs: ProgramsReader;
}

/** The steps of a run that follow each other in memory. */
export interface Frame {
  /** Slot of its first step. */
  readonly base: number;
  readonly size: number;
  /** Iterations of the loops around it, as `__2`. */
  readonly suffix: string;
  /** Whether they are the branches of a dynamic fork. */
  readonly isFork: boolean;
}

/** The steps of a run: those outside of loops first, then each iteration, oldest first. */
export function framesOf(state: RunState, run: Slot): Frame[] {
  const { table, steps } = state.runs;
  const base = table.base[run];
  const frames = [{ base, size: frameSize(state, base), suffix: '', isFork: false }];
  // The list grows: loops and forks add their frames.
  for (const { base, size, suffix } of frames) {
    for (let slot = base; slot < base + size; slot++) {
      const inner: typeof frames = [];
      let iteration = steps.iteration[slot];
      const isFork = iteration === 0;
      for (let each = steps.inner[slot]; each !== 0; each = steps.earlier[each - 1]) {
        const within = isFork ? suffix : `${suffix}__${iteration}`;
        const size = frameSize(state, each - 1);
        inner.push({ base: each - 1, size, suffix: within, isFork });
        iteration -= 1;
      }
      frames.push(...inner.reverse());
    }
  }
  return frames;
}

/** Number of steps in the frame that begins here. */
export function frameSize(state: RunState, base: number): number {
  const { runs, programs } = state;
  const { steps, table } = runs;
  if (isBranch(state, base)) return steps.items[steps.owner[base] - 1];
  const program = programs.at(table.program[steps.run[base]]);
  return scopeOf(program, steps.node[base]).arrivals.length;
}

/** Whether a step is a branch of a dynamic fork. A loop with steps has an iteration. */
export function isBranch({ runs }: Pick<RunState, 'runs'>, step: number): boolean {
  const { owner, iteration } = runs.steps;
  return owner[step] !== 0 && iteration[owner[step] - 1] === 0;
}

export function scopeOf({ scopes }: StoredProgram, firstNode: number): StoredScope {
  const scope = scopes.find(({ first }) => first === firstNode);
  invariant(scope !== undefined, 'a frame begins with the first step of its scope');
  return scope;
}
