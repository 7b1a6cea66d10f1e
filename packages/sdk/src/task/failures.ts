/**
 * Thrown by a handler when another attempt would fail the same way: the task is not retried. Any
 * other error is retried by the task's `retry` options.
 */
export class PermanentFailure extends Error {
  override readonly name: string = 'PermanentFailure';
}

/** Thrown by a handler: the next attempt starts after this delay, whatever `retry` says. */
export class RetryAfter extends Error {
  override readonly name: string = 'RetryAfter';
  readonly delayMs: number;

  constructor(delayMs: number, message = `try again in ${delayMs} ms`, options?: ErrorOptions) {
    super(message, options);
    this.delayMs = delayMs;
  }
}

/**
 * Thrown by a handler that cannot run the task here: the task goes to another worker, and this
 * costs no attempt. For a second it is not given to this worker again.
 */
export class HandBack extends Error {
  override readonly name: string = 'HandBack';
}

/**
 * Returned by a handler: this attempt is over, and the task ends later by a call of
 * `TaskHandle.complete` or `fail`.
 */
export const Later: unique symbol = Symbol.for('sluice.later');
export type Later = typeof Later;

/** Why the signal of a handler was aborted: the `reason` of its `AbortSignal`. */
export class TaskAborted extends Error {
  override readonly name: string = 'TaskAborted';
  /**
   * `cancelled` on request, `timed_out`, `lease_lost` to another worker, or `stopping` because the
   * worker stops and its grace period is over.
   */
  readonly type: 'cancelled' | 'timed_out' | 'lease_lost' | 'stopping';
  /** How long the server waits for the handler to end; 0 when its result no longer counts. */
  readonly graceMs: number;

  constructor(type: TaskAborted['type'], message: string, graceMs: number) {
    super(message);
    this.type = type;
    this.graceMs = graceMs;
  }
}
