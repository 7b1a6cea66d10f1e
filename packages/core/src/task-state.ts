/**
 * The states of a task and the reasons for its last change, with the numbers that stand for them in
 * columns and in the log. A number never changes its meaning; new ones go to the end.
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
] as const;

export type TaskState = (typeof TASK_STATES)[number];

export const WAITING = TASK_STATES.indexOf('waiting');
export const QUEUED = TASK_STATES.indexOf('queued');
export const LEASED = TASK_STATES.indexOf('leased');
export const RUNNING = TASK_STATES.indexOf('running');
export const SUCCEEDED = TASK_STATES.indexOf('succeeded');
export const FAILED = TASK_STATES.indexOf('failed');

export function isTerminal(state: number): boolean {
  return state >= SUCCEEDED;
}

export function isHeld(state: number): boolean {
  return state === LEASED || state === RUNNING;
}

/** What a report that ended a lease said; 0 while nothing ended it, or something else did. */
export const NO_ANSWER = 0;
export const SUCCEEDED_ANSWER = 1;
export const FAILED_ANSWER = 2;

/** -1 for a kind of report that ends nothing. */
export function answerOf(kind: string): number {
  if (kind === 'succeeded') return SUCCEEDED_ANSWER;
  return kind === 'failed' ? FAILED_ANSWER : -1;
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

export const PRIORITY_LEVELS = 9;
export const DEFAULT_PRIORITY = 4;
