/**
 * The failures of a callback delivery, with their numbers in the log. A number never changes its
 * meaning; new ones go to the end. There is no free text: it would cost memory per delivery, and
 * could tell clients about networks that they cannot see.
 */
export const DELIVERY_FAILURES = [
  '',
  'answered_with_error',
  'redirected',
  'gone',
  'timed_out',
  'name_not_resolved',
  'address_not_allowed',
  'not_connected',
  'connection_lost',
  'tls_failed',
  'answer_not_http',
  'task_not_kept',
] as const;

export type DeliveryFailure = Exclude<(typeof DELIVERY_FAILURES)[number], ''>;

/** Nothing went wrong. */
export const NO_FAILURE = 0;

/**
 * A retry would not help: the receiver is gone, may not be called, or the task is no longer stored.
 */
const FINAL: readonly string[] = ['gone', 'address_not_allowed', 'task_not_kept'];

export function isFinalFailure(failure: number): boolean {
  return FINAL.includes(DELIVERY_FAILURES[failure]);
}
