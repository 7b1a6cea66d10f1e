interface AttemptFacts {
  readonly taskId: string;
  readonly taskType: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** The handler threw, or its output could not be sent. */
interface AttemptFailure extends AttemptFacts {
  /** What the handler threw. */
  readonly error: unknown;
  readonly durationMs: number;
  /**
   * Whether another attempt is expected. The worker judges by its own definition of the task; a
   * submit with other `retry` options may differ.
   */
  readonly willRetry: boolean;
  /** When the next attempt is due, if the handler said so with `RetryAfter`. */
  readonly retryAt?: Date;
}

/**
 * What happens with an attempt in a worker. Each attempt has `started` first and `ended` last. In
 * between, one that fails has `failed`, and then `retrying` if another attempt is expected.
 */
export type AttemptEvent =
  | (AttemptFacts & { readonly type: 'started' })
  | (AttemptFailure & { readonly type: 'failed' | 'retrying' })
  | (AttemptFacts & {
      readonly type: 'ended';
      /**
       * `lost`: another worker may have the task. `handed_back`: the worker stops, and another one
       * runs the task.
       */
      readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'later' | 'lost' | 'handed_back';
      readonly durationMs: number;
    });
