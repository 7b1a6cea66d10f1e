import { NO_SLOT } from '../../base/ids.ts';
import { invariant } from '../../base/invariant.ts';
import { STEP_DUE, STEP_REPORTED, STEP_RUNNING, STEP_STOPPING } from '../../workflow/run-state.ts';
import type { RunTable } from './run-table.ts';
import type { StepTable } from './step-table.ts';

/**
 * The lists of a run's steps, one for each state in which something is still to happen. A step is
 * in the list that its state names, and in no other.
 */
export class RunLists {
  private readonly steps: StepTable;
  private readonly ends: ReadonlyMap<number, { head: Int32Array; tail: Int32Array }>;

  constructor(runs: RunTable, steps: StepTable) {
    this.steps = steps;
    this.ends = new Map([
      [STEP_DUE, { head: runs.dueHead, tail: runs.dueTail }],
      [STEP_RUNNING, { head: runs.runningHead, tail: runs.runningTail }],
      [STEP_STOPPING, { head: runs.stoppingHead, tail: runs.stoppingTail }],
      [STEP_REPORTED, { head: runs.reportedHead, tail: runs.reportedTail }],
    ]);
  }

  /** Sets the state of a step and moves it to the list of that state, if there is one. */
  move(step: number, state: number): void {
    this.leave(step);
    this.steps.state[step] = state;
    const ends = this.ends.get(state);
    if (ends === undefined) return;
    const run = this.steps.run[step];
    const { next, previous } = this.steps;
    const last = ends.tail[run];
    next[step] = NO_SLOT;
    previous[step] = last;
    if (last === NO_SLOT) ends.head[run] = step;
    else next[last] = step;
    ends.tail[run] = step;
  }

  /** The same for steps that follow each other in memory and are in no list yet. */
  moveFresh(first: number, count: number, state: number): void {
    const ends = this.ends.get(state);
    invariant(ends !== undefined && count > 0, 'steps that begin have a list');
    const run = this.steps.run[first];
    const { next, previous } = this.steps;
    const end = first + count;
    this.steps.state.fill(state, first, end);
    for (let step = first; step < end; step++) next[step] = step + 1;
    for (let step = first; step < end; step++) previous[step] = step - 1;
    const last = ends.tail[run];
    previous[first] = last;
    next[end - 1] = NO_SLOT;
    if (last === NO_SLOT) ends.head[run] = first;
    else next[last] = first;
    ends.tail[run] = end - 1;
  }

  private leave(step: number): void {
    const ends = this.ends.get(this.steps.state[step]);
    if (ends === undefined) return;
    const run = this.steps.run[step];
    const { next, previous } = this.steps;
    const before = previous[step];
    const after = next[step];
    if (before === NO_SLOT) ends.head[run] = after;
    else next[before] = after;
    if (after === NO_SLOT) ends.tail[run] = before;
    else previous[after] = before;
  }
}
