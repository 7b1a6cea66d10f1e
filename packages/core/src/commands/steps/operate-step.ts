import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { findStep, outermost } from '../../decision/runs/run-place.ts';
import { tellToStop } from '../../decision/stop-attempts.ts';
import { findRun, isAwaited } from '../../state/find-run.ts';
import { framesOf } from '../../state/runs/run-frames.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { ENDED_OUTSIDE_REASON, FAILED, SUCCEEDED } from '../../task/task-state.ts';
import type { StepKind } from '../../workflow/program.ts';
import {
  hasStepFailed,
  isRunOver,
  isStepOver,
  RUN_PAUSED,
  RUN_RUNNING,
  runReason,
  STEP_CANCELLED,
  STEP_DUE,
  STEP_FAILED,
  STEP_PENDING,
  STEP_RUNNING,
  STEP_SKIPPED,
  STEP_SUCCEEDED,
} from '../../workflow/run-state.ts';
import { endStep, type StepVisit, type Visit, visitStep } from '../runs/end-steps.ts';
import { ResetPlan } from '../runs/reset-plan.ts';
import { emitSkipPlanned, revive } from '../runs/revive-run.ts';
import { nextsAfterFailure } from './enter-step.ts';
import { takeCase } from './immediate-steps.ts';

/**
 * Ends a step from outside: a WAIT or a HUMAN that waits for it, or any other that runs. In a run
 * that ended, a step that failed is completed or skipped, and the run goes on. A step that has not
 * begun is skipped when the run reaches it.
 */
export interface OperateStep extends Timed, Authored {
  readonly type: 'operate_step';
  readonly id: string;
  /** Reference of the step, with the iterations of the loops around it. */
  readonly reference: string;
  readonly operation: 'complete' | 'fail' | 'skip';
  /** The output as JSON text, or the error; empty for null. */
  readonly payload: Uint8Array;
  /** What is said of a failure. */
  readonly message: string;
  /**
   * Idempotency key of the call, a whole number; 0 or absent without one. A repeat of the call that
   * ended the step is accepted and changes nothing, also when a loop has begun the
   * step again.
   */
  readonly key?: number;
}

export interface OperateStepReply {
  readonly rejection?:
    | 'run_not_found'
    | 'step_not_found'
    | 'run_finished'
    | 'step_not_waiting'
    | 'too_many_tasks';
  readonly slot: Slot;
}

export function decideOperateStep(decision: Decision, command: OperateStep): OperateStepReply {
  const { state, runWork } = decision;
  const { namespace, id, reference, by } = command;
  const { runs } = state;
  const slot = findRun(state, namespace, id);
  if (slot === NO_SLOT) return { rejection: 'run_not_found', slot };
  const program = runWork.programs.of(state.programs.at(runs.table.program[slot]));
  const step = findStep(state, outermost(runs, slot, program), reference, runWork.branches);
  if (step === NO_SLOT) return { rejection: 'step_not_found', slot };
  if (isRepeated(decision, { run: slot, step, key: command.key ?? 0 })) return { slot };
  const isGoingOn = [RUN_RUNNING, RUN_PAUSED].includes(runs.table.state[slot]);
  const visit = { decision, run: slot, program };
  if (!isGoingOn) return endInEndedRun(visit, step, command);
  const at = visitStep(visit, step);
  if (command.operation === 'skip') return planSkip(at, command);
  // A loop ends with its body, and a SUB_WORKFLOW with the run that it started.
  const isWhole = at.node.kind === 'DO_WHILE' || at.node.kind === 'SUB_WORKFLOW';
  const isRunning = runs.steps.state[step] === STEP_RUNNING;
  const isEndable = isRunning && !isWhole;
  if (!isEndable) return { rejection: 'step_not_waiting', slot };
  if (runs.steps.link[step] === 0) endWaiting(at, command);
  else endTaskOf(at, command);
  audit(decision, by, { namespace, action: ACTIONS[command.operation] });
  return { slot };
}

interface KeyedCall {
  readonly run: Slot;
  readonly step: number;
  readonly key: number;
}

/** Whether this call has ended the step before, in this iteration of its loop or in another one. */
function isRepeated({ state }: Decision, { run, step, key }: KeyedCall): boolean {
  if (key === 0) return false;
  const { steps } = state.runs;
  if (keyOf(state, step) === key) return true;
  const isInLoop = steps.owner[step] !== 0;
  if (!isInLoop) return false;
  return framesOf(state, run).some(({ base, size }) => {
    for (let slot = base; slot < base + size; slot++) {
      if (steps.node[slot] === steps.node[step] && keyOf(state, slot) === key) return true;
    }
    return false;
  });
}

/** The key of the call that ended a step; something else for other steps. */
function keyOf({ runs: { steps }, tasks }: ReadonlyState, step: number): number {
  const task = steps.link[step] - 1;
  if (task >= 0) return tasks.endKey[task];
  return isStepOver(steps.state[step]) ? steps.until[step] : 0;
}

/**
 * A step that has not begun is passed over when the run reaches it. A FORK_JOIN is only the begin
 * of its branches, which are skipped one by one.
 */
function planSkip(at: StepVisit, { by, namespace }: OperateStep): OperateStepReply {
  const { decision, run: slot, step, node } = at;
  const { steps } = decision.state.runs;
  const isAhead = steps.state[step] === STEP_PENDING || steps.state[step] === STEP_DUE;
  // A loop is due after each iteration.
  const hasBegun = steps.inner[step] !== 0;
  if (!isAhead || hasBegun || node.kind === 'FORK_JOIN') {
    return { rejection: 'step_not_waiting', slot };
  }
  if (steps.reason[step] !== runReason('skipped_by_call')) {
    emitSkipPlanned(at);
    audit(decision, by, { namespace, action: ACTIONS.skip });
  }
  return { slot };
}

const ACTIONS = {
  complete: 'step_completed',
  fail: 'step_failed',
  skip: 'step_skipped',
} as const;

/** Kinds of steps that make their output, or what follows them, themselves. */
const WITHOUT_OUTPUT: readonly StepKind[] = [
  'DO_WHILE',
  'FORK_JOIN',
  'FORK_JOIN_DYNAMIC',
  'JOIN',
  'EXCLUSIVE_JOIN',
  'SET_VARIABLE',
  'TERMINATE',
  'NOOP',
];

/** A step that failed is passed over, and its run goes on. What else failed begins again. */
function endInEndedRun(visit: Visit, step: number, command: OperateStep): OperateStepReply {
  const { decision, run: slot } = visit;
  const { runs } = decision.state;
  const { operation, by, namespace } = command;
  const isOver = isRunOver(runs.table.state[slot]);
  const state = runs.steps.state[step];
  // An approval that comes after a cancel must not bring the run back.
  const isLate = operation === 'complete' && state === STEP_CANCELLED;
  if (!isOver || operation === 'fail' || isLate || !hasStepFailed(state)) {
    return { rejection: 'run_finished', slot };
  }
  const { kind } = visit.program.nodes[runs.steps.node[step]];
  const isWhole = operation === 'complete' && WITHOUT_OUTPUT.includes(kind);
  if (isWhole || isAwaited(decision.state, slot)) return { rejection: 'step_not_waiting', slot };
  const plan = new ResetPlan(visit);
  plan.startUnsuccessful();
  plan.hold(step);
  if (!plan.holds(step)) return { rejection: 'step_not_waiting', slot };
  if (!revive(visit, plan, { isRestart: false, input: new Uint8Array(0) })) {
    return { rejection: 'too_many_tasks', slot };
  }
  const at = visitStep(visit, step);
  if (operation === 'complete') endWaiting(at, command);
  else endStep(at, { state: STEP_SKIPPED, nexts: nextsAfterFailure(at.node) });
  audit(decision, by, { namespace, action: ACTIONS[operation] });
  return { slot };
}

function endWaiting(at: StepVisit, command: OperateStep): void {
  endAsTold(at, command);
  if ((command.key ?? 0) === 0) return;
  const { decision, run, step } = at;
  const event = decision.events.stepKeyKept;
  event.slot = step as Slot;
  event.task = decision.state.runs.table.number[run] as TaskNumber;
  event.key = command.key ?? 0;
  decision.emit(event);
}

function endAsTold(at: StepVisit, { operation, payload, message, reference }: OperateStep): void {
  const { decision, node } = at;
  if (operation === 'fail') {
    const said = message === '' ? `step "${reference}" was failed by a call` : message;
    const nexts = nextsAfterFailure(node);
    endStep(at, { state: STEP_FAILED, reason: 'failed_by_call', message: said, nexts });
    return;
  }
  if (node.kind === 'SWITCH') {
    const text = decision.runWork.utf8.decode(payload);
    takeCase(at, text === '' ? null : JSON.parse(text));
    return;
  }
  const output = { bytes: payload, start: 0, end: payload.length };
  endStep(at, { state: STEP_SUCCEEDED, output, nexts: node.nexts });
}

/** The worker of its task is told to stop. The end of the task ends the step. */
function endTaskOf(
  { decision, step }: StepVisit,
  { operation, payload, key = 0 }: OperateStep,
): void {
  const task = (decision.state.runs.steps.link[step] - 1) as Slot;
  tellToStop(decision, task, { reason: ENDED_OUTSIDE_REASON, graceMs: 0 });
  endTask(decision, task, {
    state: operation === 'complete' ? SUCCEEDED : FAILED,
    reason: ENDED_OUTSIDE_REASON,
    key,
    payload: { bytes: payload, start: 0, end: payload.length },
  });
}
