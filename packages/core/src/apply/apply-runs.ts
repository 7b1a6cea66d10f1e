import type { Slot, TaskNumber } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf } from '../events/events.ts';
import type { RUN_EVENTS, STEP_TASK_EVENTS } from '../events/run-events.ts';
import {
  RUN_INPUT_PAYLOAD,
  RUN_OUTPUT_PAYLOAD,
  RUN_PAYLOADS,
  STEP_INPUT_PAYLOAD,
  STEP_OUTPUT_PAYLOAD,
  VARIABLES_PAYLOAD,
} from '../state/payload-columns.ts';
import { scopesFrom } from '../state/runs/programs.ts';
import { isBranch } from '../state/runs/run-frames.ts';
import type { State } from '../state/state.ts';
import { DELAYED_REASON, SUBMITTED_REASON } from '../task/task-state.ts';
import { STEP_KINDS } from '../workflow/program.ts';
import {
  EVALUATES_SCRIPT,
  EVALUATES_VALUES,
  isStepLive,
  RUN_CANCELLED,
  RUN_RUNNING,
  RUN_STOPPING,
  runReason,
  STEP_RUNNING,
  STEP_STOPPING,
  STEP_SUCCEEDED,
  SUB_RUN,
} from '../workflow/run-state.ts';
import type { Appliers } from './applier.ts';
import { oweCallback, oweRunDelivery } from './apply-callbacks.ts';
import {
  applyBranchesOpened,
  applyFrameOpened,
  releaseFrame,
  takeBackPromise,
} from './apply-frames.ts';
import { applyRunRevived, applyStepsReset } from './apply-resets.ts';
import { admit } from './apply-tasks.ts';
import { noteEnd } from './schedule-places.ts';
import { arrive, checkRun, makeDue, reportChild, runOf } from './step-places.ts';
import { enqueue, wait } from './task-places.ts';

const SIMPLE = STEP_KINDS.indexOf('SIMPLE');
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
    // A step that waited for values in blobs is live already.
    if (!isStepLive(runs.steps.state[event.step])) runs.table.live[run] += 1;
    if (runs.steps.isEvaluating[event.step] !== 0) runs.steps.isEvaluating[event.step] = 0;
    runs.steps.link[event.step] = slot + 1;
    runs.lists.move(event.step, STEP_RUNNING);
    runs.promise(run, -1);
    runs.updateLine(run);
    if (event.runAt > at) wait(state, slot, { until: event.runAt, reason: DELAYED_REASON });
    else enqueue(state, slot, { at, reason: SUBMITTED_REASON, toHead: false });
    // A CALLBACK has its delivery from here on.
    oweCallback(state, slot, at);
    state.nextTask = (event.task + 1) as TaskNumber;
  },
};

/** The part of `apply` for workflows, runs and steps. */
export const RUN_APPLIERS: Appliers<typeof RUN_EVENTS> = {
  workflow_registered: (state, at, event) => {
    const { program: place, namespace, name, workflowVersion: version, hash, text } = event;
    const scopes = scopesFrom(event.sizes, event.tasks, event.arrivals);
    state.programs.register({
      place,
      namespace,
      name,
      version,
      hash,
      scopes,
      text,
      registeredAt: at,
    });
  },
  workflow_removed: (state, _at, { program }) => state.programs.unregister(program),
  run_started: (state, at, event) => {
    applyStarted(state, at, event);
  },
  child_started: applyChildStarted,
  run_readmitted: applyRunReadmitted,
  step_started: applyStepStarted,
  step_ended: applyStepEnded,
  frame_opened: applyFrameOpened,
  branches_opened: applyBranchesOpened,
  steps_reset: applyStepsReset,
  run_revived: applyRunRevived,
  step_stopping: (state, _at, { slot, task }) => {
    runOf(state, slot, task);
    state.runs.lists.move(slot, STEP_STOPPING);
    state.runs.updateLine(state.runs.steps.run[slot] as Slot);
  },
  run_changed: (state, _at, event) => {
    const run = checkRun(state, event);
    state.runs.table.state[run] = event.state;
    setTimer(state, run, event.until);
    state.runs.updateLine(run);
  },
  run_stopping: (state, _at, event) => {
    const { table } = state.runs;
    const run = checkRun(state, event);
    setTimer(state, run, 0);
    table.isEvaluating[run] = 0;
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
    setTimer(state, run, 0);
    table.isEvaluating[run] = 0;
    table.state[run] = event.state;
    table.reason[run] = event.reason;
    table.endedAt[run] = at;
    state.runs.promise(run, -table.promised[run]);
    if (event.hasOutput) state.payloads.store(RUN_OUTPUT_PAYLOAD, run, event.output);
    state.runs.updateLine(run);
    state.runs.ended.append(run);
    state.runs.endedSteps += table.size[run];
    state.runs.countOpen(state.programs.at(table.program[run]).namespace, -1);
    reportChild(state, run);
    const wasCancelled = event.state === RUN_CANCELLED;
    noteEnd(state, { made: event.task, at, wasCancelled });
  },
  run_forgotten: applyForgotten,
  values_asked: applyValuesAsked,
  run_delivery_owed: oweRunDelivery,
  run_overdue: (state, _at, event) => setTimer(state, checkRun(state, event), 0),
  step_key_kept: ({ runs, changes }, _at, { slot, task, key }) => {
    const isIts = runs.table.number[runs.steps.run[slot]] === task;
    invariant(isIts, 'an event finds its run in its slot');
    changes.noteStep(slot);
    runs.steps.until[slot] = key;
  },
  step_skip_planned: (state, _at, { slot, task }) => {
    runOf(state, slot, task);
    state.runs.steps.reason[slot] = runReason('skipped_by_call');
  },
};

type Started = EventOf<'run_started'> | EventOf<'child_started'>;

function applyStarted(state: State, at: number, event: Started): Slot {
  const run = admitRun(state, event);
  state.runs.table.startedAt[run] = at;
  const { namespace } = state.programs.at(event.program);
  state.runs.table.dedupe[run] = claim(state, at, event, namespace);
  state.nextTask = (event.task + 1) as TaskNumber;
  return run;
}

function applyRunReadmitted(state: State, _at: number, event: EventOf<'run_readmitted'>): void {
  const { table, parentReferences } = state.runs;
  const run = admitRun(state, event);
  table.startedAt[run] = event.startedAt;
  table.dedupe[run] = event.dedupeEntry;
  table.parent[run] = event.parent;
  table.parentAt[run] = event.parentAt;
  table.parentReference[run] = parentReferences.hold(event.reference);
  table.relation[run] = event.relation;
  if (event.parent !== 0) table.depth[run] = 1;
}

/** Sets all fields of a run that enters memory, and makes its first step due. */
function admitRun(state: State, event: Started | EventOf<'run_readmitted'>): Slot {
  const { runs, programs, changes } = state;
  const { table } = runs;
  const { scopes, namespace } = programs.at(event.program);
  runs.countOpen(namespace, 1);
  const { first, arrivals, tasks } = scopes[0];
  const run = table.allocate(event.task);
  invariant(run === event.slot, 'a run is stored in the slot that its event names');
  changes.noteRun(run);
  table.state[run] = RUN_RUNNING;
  table.priority[run] = event.priority;
  table.program[run] = event.program;
  programs.hold(event.program);
  const base = runs.steps.openFrame({ run, first, owner: 0 }, arrivals);
  invariant(base === event.base, 'the steps of a run are where its event says');
  for (let place = 0; place < arrivals.length; place++) changes.noteStep(base + place);
  table.base[run] = base;
  table.size[run] = arrivals.length;
  runs.promise(run, tasks);
  table.correlation[run] = runs.correlations.hold(event.correlation);
  table.tags[run] = state.texts.tags.hold(event.tags);
  state.payloads.store(RUN_INPUT_PAYLOAD, run, event.input);
  state.payloads.store(VARIABLES_PAYLOAD, run, event.variables);
  setTimer(state, run, event.until);
  makeDue(state, base);
  return run;
}

/** The step that started it knows the run, and the run knows the step that waits for its end. */
function applyChildStarted(state: State, at: number, event: EventOf<'child_started'>): void {
  const { table, steps, parentReferences } = state.runs;
  const run = applyStarted(state, at, event);
  table.parent[run] = event.parent;
  table.parentAt[run] = event.parentAt;
  table.parentReference[run] = parentReferences.hold(event.reference);
  table.relation[run] = event.relation;
  table.depth[run] = event.depth;
  if (event.relation === SUB_RUN) table.parentStep[run] = event.step;
  if (event.step === 0) return;
  const step = event.step - 1;
  runOf(state, step, event.parent);
  steps.child[step] = event.task;
  steps.childAt[step] = at;
}

/** Returns the value for the run's `dedupe` column. */
function claim(state: State, at: number, { dedupe, task }: Started, namespace: string): number {
  if (dedupe.windowMs === 0) return 0;
  const use = state.namespaces.intern(namespace);
  use.dedupeKeys += 1;
  const entry = state.dedupe.add(dedupe, { task, submittedAt: at, namespace: use.index });
  state.changes.noteKey(entry);
  return entry + 1;
}

function applyStepStarted(state: State, at: number, event: EventOf<'step_started'>): void {
  const { runs, payloads } = state;
  const { steps, table } = runs;
  const step = event.slot;
  const run = runOf(state, step, event.task);
  // A loop starts again for each of its conditions.
  if (steps.startedAt[step] === 0) steps.startedAt[step] = at;
  steps.evaluation[step] = event.evaluation;
  steps.isEvaluating[step] = event.evaluation === 0 ? 0 : EVALUATES_SCRIPT;
  // A loop that asks for its condition keeps the input that it began with.
  const { start, end } = event.input;
  if (start !== end) payloads.store(STEP_INPUT_PAYLOAD, step, event.input);
  if (event.items > 0) steps.items[step] = event.items;
  if (event.until > 0) {
    steps.until[step] = event.until;
    runs.stepTimers.add(step);
  }
  if (!isStepLive(steps.state[step])) table.live[run] += 1;
  runs.lists.move(step, STEP_RUNNING);
  runs.updateLine(run);
}

/** A step that waits for values in blobs has not begun. Without them it is due again. */
function applyValuesAsked(state: State, _at: number, event: EventOf<'values_asked'>): void {
  const { runs } = state;
  const { steps, table } = runs;
  const run = checkRun(state, event);
  if (event.step === 0) {
    table.isEvaluating[run] = event.evaluation === 0 ? 0 : 1;
    if (event.evaluation !== 0) table.evaluation[run] = event.evaluation;
    runs.updateLine(run);
    return;
  }
  const step = event.step - 1;
  runOf(state, step, event.task);
  if (event.evaluation === 0) {
    steps.isEvaluating[step] = 0;
    makeDue(state, step);
    return;
  }
  steps.evaluation[step] = event.evaluation;
  steps.isEvaluating[step] = EVALUATES_VALUES;
  if (!isStepLive(steps.state[step])) table.live[run] += 1;
  runs.lists.move(step, STEP_RUNNING);
  runs.updateLine(run);
}

function applyStepEnded(state: State, at: number, event: EventOf<'step_ended'>): void {
  const { runs, payloads } = state;
  const { steps } = runs;
  const step = event.slot;
  const run = runOf(state, step, event.task);
  if (isStepLive(steps.state[step])) runs.table.live[run] -= 1;
  if (steps.link[step] === 0) steps.endedAt[step] = at;
  if (runs.stepTimers.has(step)) runs.stepTimers.remove(step);
  steps.isEvaluating[step] = 0;
  runs.lists.move(step, event.state);
  steps.reason[step] = event.reason;
  const isSet = event.kind === SET_VARIABLE && event.state === STEP_SUCCEEDED;
  if (isSet) payloads.store(VARIABLES_PAYLOAD, run, event.output);
  payloads.store(STEP_OUTPUT_PAYLOAD, step, event.output);
  if (event.isTolerated) runs.table.hasFailure[run] = 1;
  // A branch that never had a task: the fork had taken room for it.
  if (event.kind === SIMPLE && isBranch(state, step) && steps.link[step] === 0) {
    runs.promise(run, -1);
  }
  takeBackPromise(state, run, step);
  for (const next of event.nexts) arrive(state, next);
  runs.updateLine(run);
}

function applyForgotten(state: State, _at: number, event: EventOf<'run_forgotten'>): void {
  const { runs, payloads, changes } = state;
  const { table } = runs;
  const run = checkRun(state, event);
  runs.endedSteps -= table.size[run];
  releaseFrame(state, run, table.base[run]);
  runs.ended.remove(run);
  payloads.releaseAll(run, RUN_PAYLOADS);
  runs.correlations.release(table.correlation[run]);
  runs.parentReferences.release(table.parentReference[run]);
  state.texts.tags.release(table.tags[run]);
  const key = table.dedupe[run] - 1;
  if (key >= 0 && state.dedupe.task[key] === event.task) {
    state.dedupe.lastState[key] = table.state[run];
    changes.noteKey(key);
  }
  state.programs.release(table.program[run]);
  table.free(run);
}

function setTimer(state: State, run: Slot, until: number): void {
  const { timers, table } = state.runs;
  if (timers.has(run)) timers.remove(run);
  if (until === 0) return;
  table.timerAt[run] = until;
  timers.add(run);
}
