import { isBlobReference } from '../../base/blob-reference.ts';
import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { placeOf, type RunPlace, referenceOf } from '../../decision/runs/run-place.ts';
import { askToStop, GRACE_MS_DEFAULT } from '../../decision/stop-attempts.ts';
import { compileTemplate } from '../../expressions/template.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { CANCELLED, CANCELLED_REASON, FAILED, isHeld, SUCCEEDED } from '../../task/task-state.ts';
import { type Program, STEP_KINDS, type StepNode } from '../../workflow/program.ts';
import {
  hasStepFailed,
  RUN_CANCELLED,
  RUN_FAILED,
  RUN_PAUSED,
  RUN_RUNNING,
  RUN_TIMED_OUT,
  type RunReason,
  runReason,
  STEP_CANCELLED,
  STEP_FAILED,
  STEP_PENDING,
  STEP_SUCCEEDED,
  STEP_TIMED_OUT,
  STEP_WITH_ERRORS,
} from '../../workflow/run-state.ts';

/** A run while it is worked on. */
export interface Visit {
  readonly decision: Decision;
  readonly run: Slot;
  readonly program: Program;
}

/** A step while it is worked on. */
export interface StepVisit extends Visit, RunPlace {
  readonly step: number;
  readonly node: StepNode;
}

export function visitStep(visit: Visit, step: number): StepVisit {
  const { decision, program } = visit;
  const { runs } = decision.state;
  const node = program.nodes[runs.steps.node[step]];
  const at = { ...visit, ...placeOf(runs, program, step), step, node };
  return program.scopes[node.scope].isFork ? { ...at, node: branchNode(at) } : at;
}

/** The step of a branch: as its fork says, and as its element in the list says. */
function branchNode({ decision, step, node }: StepVisit): StepNode {
  const { utf8, branches } = decision.runWork;
  const { reference, name, workflow, isOptional, task } = branches.at(step);
  const branch = { ...node, reference, name, isOptional: node.isOptional || isOptional };
  if (workflow === undefined) return { ...branch, task: { ...node.task, ...task, type: name } };
  const which = { name, version: workflow === 0 ? null : workflow };
  const child = { which: compileTemplate(which, utf8), definition: '' };
  return { ...branch, kind: 'SUB_WORKFLOW', task: undefined, child };
}

/** The reference of a step with the iterations of the loops around it. */
export function shownReference({ decision, program }: Visit, step: number): string {
  return referenceOf(decision.state, program, step, decision.runWork.branches);
}

export const NOTHING: PayloadRange = { bytes: new Uint8Array(0), start: 0, end: 0 };

/** How a step ended. */
export interface StepEnd {
  readonly state: number;
  readonly reason?: RunReason;
  readonly output?: PayloadRange;
  /** Places that it arrives at. */
  readonly nexts: readonly number[];
  /** What is said of the failure. */
  readonly message?: string;
  /** What its task said, for the error of the run. */
  readonly said?: string;
}

/** Ends a step. A failure that the definition does not allow stops the run. */
export function endStep(visit: StepVisit, end: StepEnd): void {
  const { decision, run, step, node } = visit;
  const { state, emit, events, runWork } = decision;
  const { runs } = state;
  const isFailure = hasStepFailed(end.state);
  const isRunning = GOING_ON.includes(runs.table.state[run]);
  // In a run that stops, a step that was stopped shows as what it is.
  const isOptional = isFailure && isRunning && node.isOptional;
  const isAllowed = isOptional || (isFailure && isRunning && node.isPermissive);
  const event = events.stepEnded;
  event.slot = step as Slot;
  event.task = runs.table.number[run] as TaskNumber;
  event.kind = STEP_KINDS.indexOf(node.kind);
  event.reference = shownReference(visit, step);
  event.state = isOptional ? STEP_WITH_ERRORS : end.state;
  event.reason = runReason(end.reason ?? '');
  event.isTolerated = isAllowed && !isOptional;
  Object.assign(event.output, end.output ?? NOTHING);
  if (isFailure && end.message !== undefined) {
    const error = { code: end.reason ?? 'step_failed', message: end.message };
    const bytes = runWork.utf8.encode(JSON.stringify(error));
    Object.assign(event.output, { bytes, start: 0, end: bytes.length });
  }
  const goesOn = !isFailure || isAllowed;
  event.nexts = goesOn ? nextSlots(visit, end.nexts) : [];
  emit(event);
  if (goesOn || !isRunning) return;
  stopRun(visit, {
    outcome: OUTCOMES.get(end.state) ?? RUN_FAILED,
    reason: end.reason ?? 'step_failed',
    step,
    message: end.message ?? `step "${event.reference}" did not succeed${end.said ?? ''}`,
  });
}

/** States of a run that has not been decided yet. */
const GOING_ON = [RUN_RUNNING, RUN_PAUSED];

/** One arrival is enough for an EXCLUSIVE_JOIN: nothing arrives there again. */
function nextSlots(visit: StepVisit, places: readonly number[]): number[] {
  const { nodes } = visit.program;
  const { state } = visit.decision.state.runs.steps;
  const slots: number[] = [];
  for (const place of places) {
    const slot = nextSlot(visit, place);
    const hasPassed = nodes[place].kind === 'EXCLUSIVE_JOIN' && state[slot] !== STEP_PENDING;
    if (!hasPassed) slots.push(slot);
  }
  return slots;
}

/**
 * What comes next is in the same frame, but for the end of a body or of a branch: there it is the
 * loop, or the join, in the frame around it.
 */
export function nextSlot(
  { decision, program, node, step, frame }: StepVisit,
  place: number,
): number {
  const { scope } = program.nodes[place];
  const { first } = program.scopes[scope];
  if (scope === node.scope) return frame + place - first;
  const { runs } = decision.state;
  return placeOf(runs, program, runs.steps.owner[step] - 1).frame + place - first;
}

const OUTCOMES = new Map([
  [STEP_FAILED, RUN_FAILED],
  [STEP_TIMED_OUT, RUN_TIMED_OUT],
  [STEP_CANCELLED, RUN_CANCELLED],
]);

interface RunStop {
  readonly outcome: number;
  readonly reason: RunReason;
  /** Slot of the step that decided it. */
  readonly step?: number;
  /** The output of a run that succeeds; otherwise its error is made of the message. */
  readonly output?: PayloadRange;
  readonly message?: string;
}

/** Fixes the outcome of a run. What still runs is stopped next. */
export function stopRun(visit: Visit, stop: RunStop): void {
  const { decision, run } = visit;
  const { state, emit, events, runWork } = decision;
  const event = events.runStopping;
  event.slot = run;
  event.task = state.runs.table.number[run] as TaskNumber;
  event.outcome = stop.outcome;
  event.reason = runReason(stop.reason);
  event.step = stop.step === undefined ? 0 : stop.step + 1;
  if (stop.output === undefined) {
    const { reason: code, message, step } = stop;
    const reference = step === undefined ? {} : { step: shownReference(visit, step) };
    const error = { code, message, ...reference };
    const bytes = runWork.utf8.encode(JSON.stringify(error));
    Object.assign(event.output, { bytes, start: 0, end: bytes.length });
  } else Object.assign(event.output, stop.output);
  emit(event);
}

/** The task of a step has ended: so does the step. */
export function endReported(visit: Visit, step: number): void {
  const { runs, tasks } = visit.decision.state;
  const task = runs.steps.link[step] - 1;
  const at = visitStep(visit, step);
  const state = stepStateOf(tasks.state[task]);
  const said = hasStepFailed(state) ? messageOf(visit, task as Slot) : '';
  endStep(at, { state, nexts: at.node.nexts, said });
}

/** Characters of a task's message in the error of its run. */
const MESSAGE_MAX = 300;

/** The message of a task that failed; empty when it has none. */
function messageOf({ decision }: Visit, task: Slot): string {
  const { tasks, payloads } = decision.state;
  const length = tasks.resultLength[task];
  const bytes = payloads.bytesOf(tasks.result[task]);
  const start = payloads.startOf(tasks.result[task]);
  if (length === 0 || isBlobReference(bytes, start, length)) return '';
  const text = decision.runWork.utf8.decode(bytes.subarray(start, start + length));
  const { message } = (JSON.parse(text) ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? `: ${message.slice(0, MESSAGE_MAX)}` : '';
}

function stepStateOf(taskState: number): number {
  if (taskState === SUCCEEDED) return STEP_SUCCEEDED;
  if (taskState === FAILED) return STEP_FAILED;
  return taskState === CANCELLED ? STEP_CANCELLED : STEP_TIMED_OUT;
}

/** Stops a step of a run that stops. The end of its task ends the step. */
export function stopStep(visit: Visit, step: number): void {
  const { decision, run } = visit;
  const { state, emit, events } = decision;
  const { tasks, runs } = state;
  const task = (runs.steps.link[step] - 1) as Slot;
  if (task < 0) return endStep(visitStep(visit, step), { state: STEP_CANCELLED, nexts: [] });
  if (!isHeld(tasks.state[task])) {
    endTask(decision, task, { state: CANCELLED, reason: CANCELLED_REASON });
    return;
  }
  // One that is to stop for its time would get its next attempt.
  if (tasks.stop[task] !== CANCELLED_REASON) {
    askToStop(decision, task, { reason: CANCELLED_REASON, graceMs: GRACE_MS_DEFAULT });
  }
  const event = events.stepStopping;
  event.slot = step as Slot;
  event.task = runs.table.number[run] as TaskNumber;
  emit(event);
}
