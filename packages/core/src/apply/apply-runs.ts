import type { Slot, TaskNumber } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf } from '../events/events.ts';
import type { RUN_EVENTS, STEP_TASK_EVENTS } from '../events/run-events.ts';
import {
  RUN_INPUT_PAYLOAD,
  RUN_OUTPUT_PAYLOAD,
  RUN_PAYLOADS,
  STEP_OUTPUT_PAYLOAD,
  STEP_PAYLOADS,
  VARIABLES_PAYLOAD,
} from '../state/payload-columns.ts';
import type { State } from '../state/state.ts';
import { LEFT_RUN } from '../state/task-table.ts';
import { DELAYED_REASON, isTerminal, SUBMITTED_REASON } from '../task/task-state.ts';
import { STEP_KINDS } from '../workflow/program.ts';
import {
  isStepOver,
  RUN_RUNNING,
  RUN_STOPPING,
  STEP_RUNNING,
  STEP_STOPPING,
} from '../workflow/run-state.ts';
import type { Appliers } from './applier.ts';
import { admit } from './apply-tasks.ts';
import { arrive, makeDue } from './step-places.ts';
import { enqueue, wait } from './task-places.ts';

const SET_VARIABLE = STEP_KINDS.indexOf('SET_VARIABLE');

/** The part of `apply` for the tasks of steps. */
export const STEP_TASK_APPLIERS: Appliers<typeof STEP_TASK_EVENTS> = {
  step_submitted: (state, at, event) => {
    const { tasks, runs } = state;
    const slot = admit(state, event);
    tasks.submittedAt[slot] = at;
    tasks.dedupe[slot] = 0;
    tasks.step[slot] = event.step + 1;
    const run = runOf(state, event.step, event.run);
    runs.steps.link[event.step] = slot + 1;
    runs.lists.move(event.step, STEP_RUNNING);
    runs.table.live[run] += 1;
    runs.promise(run, -1);
    runs.updateLine(run);
    if (event.runAt > at) wait(state, slot, { until: event.runAt, reason: DELAYED_REASON });
    else enqueue(state, slot, { at, reason: SUBMITTED_REASON, toHead: false });
    state.nextTask = (event.task + 1) as TaskNumber;
  },
};

/** The part of `apply` for workflows, runs and steps. */
export const RUN_APPLIERS: Appliers<typeof RUN_EVENTS> = {
  workflow_registered: (state, at, event) => {
    const { program, namespace, name, workflowVersion, hash, arrivals, tasks, text } = event;
    const place = program;
    const version = workflowVersion;
    const kept = { place, namespace, name, version, hash, arrivals: [...arrivals], tasks };
    state.programs.register({ ...kept, text, registeredAt: at });
  },
  workflow_removed: (state, _at, { program }) => state.programs.unregister(program),
  run_started: applyStarted,
  step_ended: applyStepEnded,
  step_stopping: (state, _at, { slot, task }) => {
    runOf(state, slot, task);
    state.runs.lists.move(slot, STEP_STOPPING);
    state.runs.updateLine(state.runs.steps.run[slot] as Slot);
  },
  run_stopping: (state, _at, event) => {
    const { table } = state.runs;
    const run = checkRun(state, event);
    table.state[run] = RUN_STOPPING;
    table.outcome[run] = event.outcome;
    table.reason[run] = event.reason;
    table.decider[run] = event.step;
    state.payloads.store(RUN_OUTPUT_PAYLOAD, run, event.output);
    state.runs.updateLine(run);
  },
  run_ended: (state, at, event) => {
    const { table } = state.runs;
    const run = checkRun(state, event);
    table.state[run] = event.state;
    table.reason[run] = event.reason;
    table.endedAt[run] = at;
    state.runs.promise(run, -table.promised[run]);
    if (event.hasOutput) state.payloads.store(RUN_OUTPUT_PAYLOAD, run, event.output);
    state.runs.updateLine(run);
    state.runs.ended.append(run);
    state.runs.endedSteps += table.size[run];
  },
  run_forgotten: applyForgotten,
};

function applyStarted(state: State, at: number, event: EventOf<'run_started'>): void {
  const { runs, programs, changes } = state;
  const { table } = runs;
  const { arrivals, tasks, namespace } = programs.at(event.program);
  const run = table.allocate(event.task);
  invariant(run === event.slot, 'a run is stored in the slot that its event names');
  changes.noteRun(run);
  table.startedAt[run] = at;
  table.state[run] = RUN_RUNNING;
  table.priority[run] = event.priority;
  table.program[run] = event.program;
  programs.hold(event.program);
  const base = runs.steps.openFrame(run, arrivals);
  invariant(base === event.base, 'the steps of a run are where its event says');
  for (let place = 0; place < arrivals.length; place++) changes.noteStep(base + place);
  table.base[run] = base;
  table.size[run] = arrivals.length;
  runs.promise(run, tasks);
  table.correlation[run] = runs.correlations.hold(event.correlation);
  table.tags[run] = state.texts.tags.hold(event.tags);
  table.dedupe[run] = claim(state, at, event, namespace);
  state.payloads.store(RUN_INPUT_PAYLOAD, run, event.input);
  state.payloads.store(VARIABLES_PAYLOAD, run, event.variables);
  makeDue(state, base);
  state.nextTask = (event.task + 1) as TaskNumber;
}

/** Returns the value for the run's `dedupe` column. */
function claim(
  state: State,
  at: number,
  { dedupe, task }: EventOf<'run_started'>,
  namespace: string,
): number {
  if (dedupe.windowMs === 0) return 0;
  const use = state.namespaces.intern(namespace);
  use.dedupeKeys += 1;
  const entry = state.dedupe.add(dedupe, { task, submittedAt: at, namespace: use.index });
  state.changes.noteKey(entry);
  return entry + 1;
}

function applyStepEnded(state: State, at: number, event: EventOf<'step_ended'>): void {
  const { runs, payloads } = state;
  const step = event.slot;
  const run = runOf(state, step, event.task);
  const isTask = runs.steps.link[step] !== 0;
  if (isTask) runs.table.live[run] -= 1;
  else runs.steps.endedAt[step] = at;
  runs.lists.move(step, event.state);
  runs.steps.reason[step] = event.reason;
  if (event.kind === SET_VARIABLE) payloads.store(VARIABLES_PAYLOAD, run, event.output);
  payloads.store(STEP_OUTPUT_PAYLOAD, step, event.output);
  if (event.isTolerated) runs.table.hasFailure[run] = 1;
  for (const next of event.nexts) arrive(state, next);
  runs.updateLine(run);
}

function applyForgotten(state: State, _at: number, event: EventOf<'run_forgotten'>): void {
  const { runs, payloads, tasks, changes } = state;
  const { table, steps } = runs;
  const run = checkRun(state, event);
  const base = table.base[run];
  const size = table.size[run];
  for (let step = base; step < base + size; step++) {
    changes.noteStep(step);
    payloads.releaseAll(step as Slot, STEP_PAYLOADS);
    const task = (steps.link[step] - 1) as Slot;
    if (task < 0) continue;
    invariant(isTerminal(tasks.state[task]), 'the tasks of an ended run have ended');
    changes.noteTask(task);
    tasks.step[task] = LEFT_RUN;
    tasks.isDiscarded[task] = 1;
    state.finished.prepend(task);
    steps.link[step] = 0;
  }
  steps.closeFrame(base, size);
  runs.ended.remove(run);
  runs.endedSteps -= size;
  payloads.releaseAll(run, RUN_PAYLOADS);
  runs.correlations.release(table.correlation[run]);
  state.texts.tags.release(table.tags[run]);
  const key = table.dedupe[run] - 1;
  if (key >= 0 && state.dedupe.task[key] === event.task) {
    state.dedupe.lastState[key] = table.state[run];
    changes.noteKey(key);
  }
  state.programs.release(table.program[run]);
  table.free(run);
}

function checkRun(state: State, { slot, task }: { slot: Slot; task: TaskNumber }): Slot {
  invariant(state.runs.table.number[slot] === task, 'an event finds its run in its slot');
  state.changes.noteRun(slot);
  return slot;
}

function runOf(state: State, step: number, number: number): Slot {
  const { steps, table } = state.runs;
  const run = steps.run[step] as Slot;
  invariant(table.number[run] === number, 'an event finds the run of its step');
  invariant(!isStepOver(steps.state[step]), 'a step ends once');
  state.changes.noteStep(step);
  state.changes.noteRun(run);
  return run;
}
