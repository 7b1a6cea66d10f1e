/**
 * The states of a task and the reasons for its last change, with their numbers in columns and in
 * the log. A number never changes its meaning; new ones go to the end.
 */

export const TASK_STATES = [
  'waiting',
  'blocked',
  'queued',
  'leased',
  'running',
  'paused',
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
  // Deferred: running without a lease, because its handler left the end to the outside.
  'running',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

export const WAITING = TASK_STATES.indexOf('waiting');
export const QUEUED = TASK_STATES.indexOf('queued');
export const LEASED = TASK_STATES.indexOf('leased');
export const RUNNING = TASK_STATES.indexOf('running');
export const PAUSED = TASK_STATES.indexOf('paused');
export const SUCCEEDED = TASK_STATES.indexOf('succeeded');
export const FAILED = TASK_STATES.indexOf('failed');
export const TIMED_OUT = TASK_STATES.indexOf('timed_out');
export const EXPIRED = TASK_STATES.indexOf('expired');
export const CANCELLED = TASK_STATES.indexOf('cancelled');
export const DEFERRED = TASK_STATES.lastIndexOf('running');

export function isTerminal(state: number): boolean {
  return state >= SUCCEEDED && state <= CANCELLED;
}

/** Ended tasks that an operator may want to run again: dead letters. */
export function isDead(state: number): boolean {
  return state === FAILED || state === TIMED_OUT;
}

export function isHeld(state: number): boolean {
  return state === LEASED || state === RUNNING;
}

/** The kind of report that ended a lease; 0 while it has not ended, or when no report ended it. */
export const NO_ANSWER = 0;
export const SUCCEEDED_ANSWER = 1;
export const LATER_ANSWER = 4;
export const REFUSED_ANSWER = 5;

const ANSWER_NAMES = ['', 'succeeded', 'failed', 'cancelled', 'later', 'refused'];

/** -1 for a kind of report that does not end an attempt. */
export function answerOf(kind: string): number {
  return ANSWER_NAMES.indexOf(kind);
}

/** The kind of the report; empty for `NO_ANSWER`. */
export function nameOfAnswer(answer: number): string {
  return ANSWER_NAMES[answer];
}

export const REASONS = [
  'submitted',
  'leased',
  'started',
  'succeeded',
  'failed',
  'worker_lost',
  'handed_back',
  'not_arrived',
  'delayed',
  'backoff',
  'due',
  'later',
  'cancelled',
  'queue_timeout',
  'run_timeout',
  'heartbeat_timeout',
  'total_timeout',
  'paused',
  'resumed',
  'rescheduled',
  'retried',
  'redriven',
  'ended_outside',
  'refused',
] as const;

export type Reason = (typeof REASONS)[number];

export const SUBMITTED_REASON = REASONS.indexOf('submitted');
export const LEASED_REASON = REASONS.indexOf('leased');
export const STARTED_REASON = REASONS.indexOf('started');
export const SUCCEEDED_REASON = REASONS.indexOf('succeeded');
export const FAILED_REASON = REASONS.indexOf('failed');
export const WORKER_LOST_REASON = REASONS.indexOf('worker_lost');
export const HANDED_BACK_REASON = REASONS.indexOf('handed_back');
export const NOT_ARRIVED_REASON = REASONS.indexOf('not_arrived');

export const DELAYED_REASON = REASONS.indexOf('delayed');
export const BACKOFF_REASON = REASONS.indexOf('backoff');
export const DUE_REASON = REASONS.indexOf('due');
export const LATER_REASON = REASONS.indexOf('later');
export const CANCELLED_REASON = REASONS.indexOf('cancelled');
export const QUEUE_TIMEOUT_REASON = REASONS.indexOf('queue_timeout');
export const RUN_TIMEOUT_REASON = REASONS.indexOf('run_timeout');
export const HEARTBEAT_TIMEOUT_REASON = REASONS.indexOf('heartbeat_timeout');
export const TOTAL_TIMEOUT_REASON = REASONS.indexOf('total_timeout');
export const PAUSED_REASON = REASONS.indexOf('paused');
export const RESUMED_REASON = REASONS.indexOf('resumed');
export const RESCHEDULED_REASON = REASONS.indexOf('rescheduled');
export const RETRIED_REASON = REASONS.indexOf('retried');
export const REDRIVEN_REASON = REASONS.indexOf('redriven');
export const ENDED_OUTSIDE_REASON = REASONS.indexOf('ended_outside');
export const REFUSED_REASON = REASONS.indexOf('refused');

/** No stop request; otherwise the column holds the reason of the request. */
export const NO_STOP = 0;

export const PRIORITY_LEVELS = 9;
export const DEFAULT_PRIORITY = 4;
