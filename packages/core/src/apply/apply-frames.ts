import type { Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf } from '../events/events.ts';
import { STEP_PAYLOADS } from '../state/payload-columns.ts';
import { frameSize, scopeOf } from '../state/runs/run-frames.ts';
import type { State } from '../state/state.ts';
import { isStepLive, STEP_DUE, STEP_RUNNING, STEP_SUCCEEDED } from '../workflow/run-state.ts';
import { releaseTask } from './apply-resets.ts';
import { makeDue, runOf } from './step-places.ts';

/**
 * The frames of loops and dynamic forks: they open, and the oldest ones leave memory.
 */

/** An iteration begins with the first step of the body. The loop runs until its body arrives. */
export function applyFrameOpened(state: State, _at: number, event: EventOf<'frame_opened'>): void {
  const { runs, programs, changes } = state;
  const { steps, table } = runs;
  const loop = event.slot;
  const run = runOf(state, loop, event.task);
  const { first, arrivals, tasks } = programs.at(table.program[run]).scopes[event.scope];
  takeBackPromise(state, run, loop);
  const base = steps.openFrame({ run, first, owner: loop + 1 }, arrivals);
  invariant(base === event.base, 'the steps of an iteration are where its event says');
  for (let place = 0; place < arrivals.length; place++) changes.noteStep(base + place);
  steps.earlier[base] = steps.inner[loop];
  steps.inner[loop] = base + 1;
  if (event.dropped !== 0) dropFrame(state, loop, event.dropped - 1);
  steps.iteration[loop] = event.iteration;
  steps.isEvaluating[loop] = 0;
  steps.waiting[loop] = 1;
  if (!isStepLive(steps.state[loop])) table.live[run] += 1;
  runs.lists.move(loop, STEP_RUNNING);
  table.size[run] += arrivals.length;
  runs.promise(run, tasks);
  makeDue(state, base);
}

/** A dynamic fork is over when its branches may begin. */
export function applyBranchesOpened(
  state: State,
  at: number,
  event: EventOf<'branches_opened'>,
): void {
  const { runs, programs, changes } = state;
  const { steps, table } = runs;
  const fork = event.slot;
  const run = runOf(state, fork, event.task);
  const { first } = programs.at(table.program[run]).scopes[event.scope];
  const base = steps.openBranches({ run, first, owner: fork + 1 }, event.count);
  invariant(base === event.base, 'the branches of a fork are where its event says');
  runs.branches.forget(fork);
  steps.inner[fork] = base + 1;
  steps.items[fork] = event.count;
  steps.endedAt[fork] = at;
  table.live[run] -= 1;
  runs.lists.move(fork, STEP_SUCCEEDED);
  changes.noteStep(event.join);
  steps.waiting[event.join] = event.count;
  table.size[run] += event.count;
  runs.promise(run, event.tasks);
  changes.noteSteps(base, event.count);
  runs.lists.moveFresh(base, event.count, STEP_DUE);
  runs.updateLine(run);
}

/** The newest iteration of a loop is over: tasks that it did not need were promised for nothing. */
export function takeBackPromise({ runs, programs }: State, run: Slot, loop: number): void {
  const { steps, table } = runs;
  const base = steps.inner[loop] - 1;
  if (base < 0 || steps.iteration[loop] === 0) return;
  const { arrivals, tasks } = scopeOf(programs.at(table.program[run]), steps.node[base]);
  let unused = tasks;
  for (let step = base; step < base + arrivals.length; step++) {
    if (steps.link[step] !== 0) unused -= 1;
  }
  runs.promise(run, -unused);
}

/** The oldest iteration of a loop leaves memory. */
function dropFrame(state: State, loop: number, base: number): void {
  const { runs, changes } = state;
  const { steps } = runs;
  let frame = steps.inner[loop] - 1;
  while (steps.earlier[frame] !== base + 1) frame = steps.earlier[frame] - 1;
  invariant(steps.earlier[base] === 0, 'the oldest iteration goes first');
  changes.noteStep(frame);
  steps.earlier[frame] = 0;
  const run = steps.run[base] as Slot;
  runs.table.size[run] -= releaseFrame(state, run, base);
}

/** Frees the steps of a frame and of the loops in it; returns how many. Their tasks have ended. */
export function releaseFrame(state: State, run: Slot, base: number): number {
  const { runs, payloads, changes } = state;
  const { steps } = runs;
  const size = frameSize(state, base);
  let freed = size;
  for (let step = base; step < base + size; step++) {
    changes.noteStep(step);
    payloads.releaseAll(step as Slot, STEP_PAYLOADS);
    let inner = steps.inner[step];
    while (inner !== 0) {
      const earlier = steps.earlier[inner - 1];
      freed += releaseFrame(state, run, inner - 1);
      inner = earlier;
    }
    releaseTask(state, step);
  }
  steps.closeFrame(base, size);
  return freed;
}
