import type { Slot, TaskNumber } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { State } from '../state/state.ts';
import { isStepLive, isStepOver, STEP_DUE, STEP_REPORTED } from '../workflow/run-state.ts';

/**
 * Moves steps between the lists of their run. Only `apply` calls these functions.
 */

/** A step has something to do: its run goes to the line. */
export function makeDue(state: State, step: number): void {
  const { runs, changes } = state;
  const run = runs.steps.run[step] as Slot;
  changes.noteStep(step);
  changes.noteRun(run);
  // A loop whose body is over is due again.
  if (isStepLive(runs.steps.state[step])) runs.table.live[run] -= 1;
  runs.lists.move(step, STEP_DUE);
  runs.updateLine(run);
}

/**
 * The task of a step ended. It counts only if the step still means this task: after a reset of the
 * step it would belong to another try.
 */
export function reportTask(state: State, task: Slot): void {
  const { runs, tasks, changes } = state;
  const step = tasks.step[task] - 1;
  if (runs.steps.link[step] !== task + 1) return;
  const run = runs.steps.run[step] as Slot;
  changes.noteStep(step);
  changes.noteRun(run);
  runs.lists.move(step, STEP_REPORTED);
  runs.updateLine(run);
}

/**
 * A run ended: so will the step that waits for it. It counts only if the step still means this run,
 * so a run ends a step once.
 */
export function reportChild(state: State, child: Slot): void {
  const { runs, changes } = state;
  const { steps, table } = runs;
  const step = table.parentStep[child] - 1;
  if (step < 0 || steps.child[step] !== table.number[child]) return;
  if (!isStepLive(steps.state[step])) return;
  const run = steps.run[step] as Slot;
  changes.noteStep(step);
  changes.noteRun(run);
  runs.lists.move(step, STEP_REPORTED);
  runs.updateLine(run);
}

/** One of the steps before it arrived. The last arrival makes it due. */
export function arrive(state: State, step: number): void {
  const { steps } = state.runs;
  state.changes.noteStep(step);
  steps.waiting[step] -= 1;
  if (steps.waiting[step] === 0) makeDue(state, step);
}

/** The run that an event is about, which changes. */
export function checkRun(state: State, { slot, task }: { slot: Slot; task: TaskNumber }): Slot {
  invariant(state.runs.table.number[slot] === task, 'an event finds its run in its slot');
  state.changes.noteRun(slot);
  return slot;
}

/** The run of the step that an event is about. Both change. */
export function runOf(state: State, step: number, number: number): Slot {
  const { steps, table } = state.runs;
  const run = steps.run[step] as Slot;
  invariant(table.number[run] === number, 'an event finds the run of its step');
  invariant(!isStepOver(steps.state[step]), 'a step ends once');
  state.changes.noteStep(step);
  state.changes.noteRun(run);
  return run;
}
