/**
 * The states of runs and steps and the reasons for their ends, with their numbers in columns and in
 * the log. A number never changes its meaning; new ones go to the end.
 */
export const RUN_STATES = [
  'running',
  'stopping',
  'paused',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
] as const;

export const RUN_RUNNING = RUN_STATES.indexOf('running');
export const RUN_STOPPING = RUN_STATES.indexOf('stopping');
export const RUN_PAUSED = RUN_STATES.indexOf('paused');
export const RUN_SUCCEEDED = RUN_STATES.indexOf('succeeded');
export const RUN_FAILED = RUN_STATES.indexOf('failed');
export const RUN_TIMED_OUT = RUN_STATES.indexOf('timed_out');
export const RUN_CANCELLED = RUN_STATES.indexOf('cancelled');

export function isRunOver(state: number): boolean {
  return state >= RUN_SUCCEEDED;
}

export const STEP_STATES = [
  'pending',
  // Due: every step before it has arrived, and it enters next.
  'due',
  'running',
  // Its task is asked to stop.
  'stopping',
  // Its task has ended, and what follows has not begun yet.
  'reported',
  'succeeded',
  'completed_with_errors',
  'failed',
  'timed_out',
  'skipped',
  'cancelled',
] as const;

export const STEP_PENDING = STEP_STATES.indexOf('pending');
export const STEP_DUE = STEP_STATES.indexOf('due');
export const STEP_RUNNING = STEP_STATES.indexOf('running');
export const STEP_STOPPING = STEP_STATES.indexOf('stopping');
export const STEP_REPORTED = STEP_STATES.indexOf('reported');
export const STEP_SUCCEEDED = STEP_STATES.indexOf('succeeded');
export const STEP_WITH_ERRORS = STEP_STATES.indexOf('completed_with_errors');
export const STEP_FAILED = STEP_STATES.indexOf('failed');
export const STEP_TIMED_OUT = STEP_STATES.indexOf('timed_out');
export const STEP_SKIPPED = STEP_STATES.indexOf('skipped');
export const STEP_CANCELLED = STEP_STATES.indexOf('cancelled');

/** Whether a step in this state counts as live: the run does not end before it. */
export function isStepLive(state: number): boolean {
  return state >= STEP_RUNNING && state <= STEP_REPORTED;
}

/** Whether a step ended without success. */
export function hasStepFailed(state: number): boolean {
  return state >= STEP_FAILED && state !== STEP_SKIPPED;
}

export function isStepOver(state: number): boolean {
  return state >= STEP_SUCCEEDED;
}

/** Why a step or a run ended; empty where the state says it all. */
export const RUN_REASONS = [
  '',
  'step_failed',
  'terminated',
  'cancelled',
  'bad_value',
  'value_too_large',
  'run_too_large',
  'too_many_types',
  'run_timeout',
  'script_failed',
  'too_many_iterations',
  'failed_by_call',
  'too_many_branches',
  'child_failed',
  'workflow_not_found',
  'too_deep',
  'parent_stopped',
  'no_room',
  // Also of a step that has not begun: it is passed over when the run reaches it.
  'skipped_by_call',
] as const;

export type RunReason = (typeof RUN_REASONS)[number];

export function runReason(name: RunReason): number {
  return RUN_REASONS.indexOf(name);
}

/** What a step waits for, in its column `isEvaluating`: its script, or values in blobs. */
export const EVALUATES_SCRIPT = 1;
export const EVALUATES_VALUES = 2;

/**
 * What becomes of a step of a run that was revived. A number never changes its meaning.
 *
 * - `again`: it begins as if it had never begun.
 * - `runs_on`: a loop waits for its body again.
 * - `due_on`: a loop decides again whether it goes on.
 */
export const RESET_KINDS = ['again', 'runs_on', 'due_on'] as const;

export const RESET_AGAIN = RESET_KINDS.indexOf('again');
export const RESET_RUNS_ON = RESET_KINDS.indexOf('runs_on');
export const RESET_DUE_ON = RESET_KINDS.indexOf('due_on');

/**
 * How a run that another run started is related to it, with its number in columns and in the log.
 * A number never changes its meaning; new ones go to the end.
 */
export const RUN_RELATIONS = ['', 'sub_workflow', 'start_workflow', 'failure_workflow'] as const;

/** A step of the parent waits for its end. */
export const SUB_RUN = RUN_RELATIONS.indexOf('sub_workflow');
/** Nobody waits for it. */
export const STARTED_RUN = RUN_RELATIONS.indexOf('start_workflow');

/** The parent failed. Nobody waits for it, and its own failure starts nothing. */
export const FAILURE_RUN = RUN_RELATIONS.indexOf('failure_workflow');

/** Bound on the runs above a run: a workflow that calls itself for ever fails. */
export const RUN_DEPTH_MAX = 32;
