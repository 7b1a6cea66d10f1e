/**
 * Thrown by a handler: another attempt would end the same, so there is none. Any other error is
 * retried as the task's `retry` says.
 */
export class PermanentFailure extends Error {
  override readonly name: string = 'PermanentFailure';
}

/** Thrown by a handler: the next attempt is to start this much later, whatever `retry` says. */
export class RetryAfter extends Error {
  override readonly name: string = 'RetryAfter';
  readonly delayMs: number;

  constructor(delayMs: number, message = `try again in ${delayMs} ms`, options?: ErrorOptions) {
    super(message, options);
    this.delayMs = delayMs;
  }
}

/**
 * Returned by a handler: the attempt is over here, and somebody else says how the task ends, by
 * `TaskHandle.complete` or `fail`.
 */
export const Later: unique symbol = Symbol.for('sluice.later');
export type Later = typeof Later;

/** Why the signal of a handler fired: the `reason` of its `AbortSignal`. */
export class TaskAborted extends Error {
  override readonly name: string = 'TaskAborted';
  /**
   * `cancelled` by somebody, `timed_out`, `lease_lost` to another worker, or `stopping` because the
   * worker stops and has waited for long enough.
   */
  readonly type: 'cancelled' | 'timed_out' | 'lease_lost' | 'stopping';
  /** How long the server waits for the handler to end; 0 when what it says does not count. */
  readonly graceMs: number;

  constructor(type: TaskAborted['type'], message: string, graceMs: number) {
    super(message);
    this.type = type;
    this.graceMs = graceMs;
  }
}
