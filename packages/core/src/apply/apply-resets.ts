import type { Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf } from '../events/events.ts';
import {
  RUN_OUTPUT_PAYLOAD,
  STEP_INPUT_PAYLOAD,
  STEP_OUTPUT_PAYLOAD,
  STEP_PAYLOADS,
  VARIABLES_PAYLOAD,
} from '../state/payload-columns.ts';
import type { State } from '../state/state.ts';
import { LEFT_RUN } from '../state/task-table.ts';
import { isTerminal } from '../task/task-state.ts';
import {
  isRunOver,
  RESET_AGAIN,
  RESET_RUNS_ON,
  RUN_RUNNING,
  STEP_PENDING,
  STEP_RUNNING,
} from '../workflow/run-state.ts';
import { makeDue } from './step-places.ts';

/** A run that had ended goes on. What its steps do is in the next event. */
export function applyRunRevived(state: State, _at: number, event: EventOf<'run_revived'>): void {
  const { runs, payloads, changes } = state;
  const { table } = runs;
  const run = event.slot;
  invariant(table.number[run] === event.task, 'an event finds its run in its slot');
  invariant(isRunOver(table.state[run]), 'only a run that ended is revived');
  changes.noteRun(run);
  runs.ended.remove(run);
  runs.endedSteps -= table.size[run];
  runs.countOpen(state.programs.at(table.program[run]).namespace, 1);
  table.state[run] = RUN_RUNNING;
  for (const column of [table.outcome, table.reason, table.decider, table.hasFailure]) {
    column[run] = 0;
  }
  table.endedAt[run] = 0;
  payloads.store(RUN_OUTPUT_PAYLOAD, run, NOTHING);
  if (event.isRestarted) payloads.store(VARIABLES_PAYLOAD, run, event.variables);
  if (event.until > 0) {
    table.timerAt[run] = event.until;
    runs.timers.add(run);
  }
  runs.promise(run, event.tasks);
  runs.updateLine(run);
}

const NOTHING = { bytes: new Uint8Array(0), start: 0, end: 0 };

export function applyStepsReset(state: State, _at: number, event: EventOf<'steps_reset'>): void {
  const { runs } = state;
  const run = event.slot;
  for (let at = 0; at < event.frames.length; at += 2) {
    closeFrame(state, run, { base: event.frames[at], size: event.frames[at + 1] });
  }
  event.steps.forEach((step, at) => {
    const waiting = event.waiting[at];
    if (event.kinds[at] === RESET_AGAIN) beginAgain(state, step, waiting);
    else goOn(state, step, event.kinds[at]);
  });
  const { start, end } = event.input;
  if (start !== end) state.payloads.store(STEP_INPUT_PAYLOAD, event.steps[0] as Slot, event.input);
  runs.updateLine(run);
}

function beginAgain(state: State, step: number, waiting: number): void {
  const { runs, payloads, changes } = state;
  const { steps } = runs;
  changes.noteStep(step);
  releaseTask(state, step);
  payloads.releaseAll(step as Slot, STEP_PAYLOADS);
  // Its evaluations are counted on, so that the result of an old one is not taken for a new one.
  for (const column of [steps.inner, steps.iteration, steps.items, steps.child, steps.childAt]) {
    if (column[step] !== 0) column[step] = 0;
  }
  clearEnd(state, step);
  if (steps.startedAt[step] !== 0) steps.startedAt[step] = 0;
  if (steps.until[step] !== 0) steps.until[step] = 0;
  runs.lists.move(step, STEP_PENDING);
  steps.waiting[step] = waiting;
  if (waiting === 0) makeDue(state, step);
}

/** A loop keeps its iterations. */
function goOn(state: State, step: number, kind: number): void {
  const { runs, payloads, changes } = state;
  const { steps, table } = runs;
  changes.noteStep(step);
  payloads.store(STEP_OUTPUT_PAYLOAD, step as Slot, NOTHING);
  clearEnd(state, step);
  if (kind !== RESET_RUNS_ON) {
    steps.waiting[step] = 0;
    makeDue(state, step);
    return;
  }
  steps.waiting[step] = 1;
  runs.lists.move(step, STEP_RUNNING);
  table.live[steps.run[step]] += 1;
}

function clearEnd({ runs }: State, step: number): void {
  const { steps } = runs;
  steps.reason[step] = 0;
  if (steps.endedAt[step] !== 0) steps.endedAt[step] = 0;
  if (steps.isEvaluating[step] !== 0) steps.isEvaluating[step] = 0;
}

/** The steps of a frame leave memory. Frames inside of it went before. */
function closeFrame(state: State, run: Slot, frame: { base: number; size: number }): void {
  const { runs, payloads, changes } = state;
  for (let step = frame.base; step < frame.base + frame.size; step++) {
    changes.noteStep(step);
    releaseTask(state, step);
    payloads.releaseAll(step as Slot, STEP_PAYLOADS);
    // A step that was due leaves the list of its run.
    runs.lists.move(step, STEP_PENDING);
  }
  runs.steps.closeFrame(frame.base, frame.size);
  runs.table.size[run] -= frame.size;
}

/** The task of a step is an ended task like any other from now on. */
export function releaseTask(state: State, step: number): void {
  const { runs, tasks, changes } = state;
  const task = (runs.steps.link[step] - 1) as Slot;
  if (task < 0) return;
  invariant(isTerminal(tasks.state[task]), 'the tasks of steps that go have ended');
  changes.noteTask(task);
  tasks.step[task] = LEFT_RUN;
  tasks.isDiscarded[task] = 1;
  state.finished.prepend(task);
  runs.steps.link[step] = 0;
}
