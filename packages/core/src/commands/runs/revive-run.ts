import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findStep, outermost } from '../../decision/runs/run-place.ts';
import { kindOf } from '../../expressions/json-bytes.ts';
import { findRun, isAwaited } from '../../state/find-run.ts';
import { exceedsRuns } from '../../state/quotas.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { StepKind } from '../../workflow/program.ts';
import {
  isRunOver,
  RUN_REASONS,
  RUN_SUCCEEDED,
  runReason,
  STEP_DUE,
  STEP_PENDING,
} from '../../workflow/run-state.ts';
import { type StepVisit, shownReference, type Visit, visitStep } from './end-steps.ts';
import { ResetPlan } from './reset-plan.ts';

/**
 * Lets a run that ended go on.
 *
 * - `retry`: what did not succeed begins again.
 * - `rerun`: a step and all that follows it begin again, and what did not succeed.
 * - `restart`: everything begins again, with the same input.
 */
export interface ReviveRun extends Timed, Authored {
  readonly type: 'revive_run';
  readonly id: string;
  readonly operation: 'retry' | 'rerun' | 'restart';
  /** For `rerun`: reference of the step. */
  readonly reference: string;
  /** For `rerun`: replaces the input of the step; JSON text, empty to keep it. */
  readonly input: Uint8Array;
}

export interface ReviveRunReply {
  readonly rejection?:
    | 'run_not_found'
    | 'run_not_finished'
    | 'run_finished'
    | 'step_not_found'
    | 'input_not_used'
    | 'input_not_object'
    | 'too_many_tasks'
    | 'quota_exceeded';
  readonly slot: Slot;
}

export function decideReviveRun(decision: Decision, command: ReviveRun): ReviveRunReply {
  const { state, runWork } = decision;
  const { namespace, id, operation, by } = command;
  const { table } = state.runs;
  const slot = findRun(state, namespace, id);
  if (slot === NO_SLOT) return { rejection: 'run_not_found', slot };
  // The run above it must take its end first.
  const isOpen = !isRunOver(table.state[slot]) || isAwaited(state, slot);
  if (isOpen) return { rejection: 'run_not_finished', slot };
  // A retry would only end it again.
  const isMeant = RUN_REASONS[table.reason[slot]] === 'terminated';
  if (operation === 'retry' && (isMeant || table.state[slot] === RUN_SUCCEEDED)) {
    return { rejection: 'run_finished', slot };
  }
  const program = runWork.programs.of(state.programs.at(table.program[slot]));
  const visit = { decision, run: slot, program };
  const plan = new ResetPlan(visit);
  if (operation === 'restart') plan.startAll();
  else plan.startUnsuccessful();
  if (operation === 'rerun') {
    const whole = outermost(state.runs, slot, program);
    const step = findStep(state, whole, command.reference, runWork.branches);
    if (step === NO_SLOT || !hasBegun(state, step)) return { rejection: 'step_not_found', slot };
    plan.start(step);
    plan.first = step;
    const { kind } = visitStep(visit, step).node;
    const rejection = inputRefusal(plan, kind, command.input);
    if (rejection !== undefined) return { rejection, slot };
  }
  // A failure that left memory cannot be tried again, and must not be forgotten.
  if (operation === 'retry' && table.hasFailure[slot] === 1 && plan.isEmpty) {
    return { rejection: 'run_finished', slot };
  }
  if (exceedsRuns(state, namespace, 1)) return { rejection: 'quota_exceeded', slot };
  const { operation: how, input } = command;
  if (!revive(visit, plan, { isRestart: how === 'restart', input }))
    return { rejection: 'too_many_tasks', slot };
  audit(decision, by, { namespace, action: ACTIONS[operation] });
  return { slot };
}

/** A step that the run has not reached, as in a case that it did not take, cannot begin again. */
function hasBegun({ runs: { steps } }: ReadonlyState, step: number): boolean {
  const isAhead = steps.state[step] === STEP_PENDING || steps.state[step] === STEP_DUE;
  return !isAhead || steps.inner[step] !== 0;
}

/** Kinds of steps that take no input, or make it themselves. */
const WITHOUT_INPUT: readonly StepKind[] = [
  'FORK_JOIN',
  'FORK_JOIN_DYNAMIC',
  'JOIN',
  'EXCLUSIVE_JOIN',
  'DO_WHILE',
  'NOOP',
];

/** Only a task takes any JSON as its input. */
function inputRefusal(plan: ResetPlan, kind: StepKind, input: Uint8Array) {
  if (input.length === 0) return undefined;
  if (WITHOUT_INPUT.includes(kind) || !plan.hasFirst) return 'input_not_used';
  const isObject = kindOf({ bytes: input, start: 0, end: input.length }) === 'object';
  return kind === 'SIMPLE' || isObject ? undefined : 'input_not_object';
}

const ACTIONS = {
  retry: 'run_retried',
  rerun: 'run_rerun',
  restart: 'run_restarted',
} as const;

interface Revival {
  readonly isRestart: boolean;
  /** Replaces the input of the first step of the plan; empty if it does not. */
  readonly input: Uint8Array;
}

/**
 * Lets an ended run go on as planned, and the runs above it that failed because of it: their steps
 * wait for it again. False when memory has no room for their tasks.
 */
export function revive(visit: Visit, plan: ResetPlan, revival: Revival): boolean {
  const { tasks, runs, limits } = visit.decision.state;
  const all = [{ visit, plan, revival }, ...plansAbove(visit)];
  const needed = all.reduce((sum, each) => sum + each.plan.tasks(each.plan.frames()), 0);
  if (tasks.count + runs.promised + needed > limits.tasksMax) return false;
  for (const each of all) goOn(each.visit, each.plan, each.revival);
  return true;
}

const NOTHING_ELSE: Revival = { isRestart: false, input: new Uint8Array(0) };

/** The runs above a run that ended because it did not succeed, nearest first. */
function plansAbove(visit: Visit): { visit: Visit; plan: ResetPlan; revival: Revival }[] {
  const { decision } = visit;
  const { state, runWork } = decision;
  const { table, steps } = state.runs;
  const above = [];
  for (let child = visit.run; ; ) {
    const step = table.parentStep[child] - 1;
    if (step < 0 || steps.child[step] !== table.number[child]) break;
    const run = steps.run[step] as Slot;
    const isItsParent = table.number[run] === table.parent[child] && isRunOver(table.state[run]);
    if (!isItsParent || table.decider[run] !== step + 1) break;
    const program = runWork.programs.of(state.programs.at(table.program[run]));
    const parent = { decision, run, program };
    const plan = new ResetPlan(parent);
    plan.keep(step);
    plan.startUnsuccessful();
    // Its iteration is over: the parent stays as it is.
    if (!plan.keeps(step)) break;
    above.push({ visit: parent, plan, revival: NOTHING_ELSE });
    child = run;
  }
  return above;
}

function goOn(
  { decision, run, program }: Visit,
  plan: ResetPlan,
  { isRestart, input }: Revival,
): void {
  const { state, emit, events, runWork, now } = decision;
  const { runs } = state;
  const frames = plan.frames();
  const needed = plan.tasks(frames);
  const resets = plan.resets();
  const number = runs.table.number[run] as TaskNumber;
  const revived = events.runRevived;
  revived.slot = run;
  revived.task = number;
  revived.until = program.timeoutMs === 0 ? 0 : now + program.timeoutMs;
  revived.tasks = needed;
  revived.isRestarted = isRestart;
  const variables = runWork.utf8.encode(revived.isRestarted ? program.variables : '');
  Object.assign(revived.variables, { bytes: variables, start: 0, end: variables.length });
  emit(revived);
  if (resets.steps.length === 0) return;
  const reset = events.stepsReset;
  reset.slot = run;
  reset.task = number;
  const visit = { decision, run, program };
  const skips = plannedSkips(visit, resets.steps);
  Object.assign(reset, { ...resets, frames });
  Object.assign(reset.input, { bytes: input, start: 0, end: input.length });
  emit(reset);
  // A fork that begins again may have another list.
  runWork.openLists.clear();
  for (const step of skips) emitSkipPlanned(visitStep(visit, step));
}

/** Steps that the run has not reached, and passes over when it does. A reset forgets that. */
function plannedSkips({ decision }: Visit, among: readonly number[]): number[] {
  const { state, reason } = decision.state.runs.steps;
  return among.filter((step) => {
    const isAhead = state[step] === STEP_PENDING || state[step] === STEP_DUE;
    return isAhead && reason[step] === runReason('skipped_by_call');
  });
}

/** The run passes over this step when it reaches it. */
export function emitSkipPlanned(at: StepVisit): void {
  const { decision, run, step } = at;
  const event = decision.events.stepSkipPlanned;
  event.slot = step as Slot;
  event.task = decision.state.runs.table.number[run] as TaskNumber;
  event.reference = shownReference(at, step);
  decision.emit(event);
}
