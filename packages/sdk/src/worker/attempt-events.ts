import type { AnyTask } from '../task/define-task.ts';
import type { TaskAborted } from '../task/failures.ts';
import type { Attempt } from './attempt-context.ts';
import { asDelay, type Ending } from './final-reports.ts';

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

/** The default of `retry`; a test compares it with the protocol. */
export const MAX_ATTEMPTS_DEFAULT = 3;

export interface AttemptEnd {
  readonly ending: Ending;
  /** What the handler threw; absent when it returned. */
  readonly thrown?: unknown;
  readonly aborted: TaskAborted | undefined;
  readonly durationMs: number;
  /** Wall time of the end. */
  readonly endedAt: number;
}

export function startEvent(attempt: Attempt): AttemptEvent {
  return { type: 'started', ...factsOf(attempt) };
}

export function endEvents(
  attempt: Attempt,
  definition: AnyTask | undefined,
  end: AttemptEnd,
): AttemptEvent[] {
  const { durationMs } = end;
  const outcome = outcomeOf(end);
  const ended: AttemptEvent = { type: 'ended', ...factsOf(attempt), outcome, durationMs };
  const { ending } = end;
  if (outcome !== 'failed' || ending.kind !== 'failed') return [ended];

  const { retryable = true } = ending;
  const delayMs = asDelay(ending.retryAfterMs);
  const willRetry = retryable && attempt.attempt < attemptsMax(definition);
  const failure: AttemptFailure = {
    ...factsOf(attempt),
    error: 'thrown' in end ? end.thrown : Object.assign(new Error(), ending.error),
    durationMs,
    willRetry,
    ...(willRetry && delayMs !== undefined ? { retryAt: new Date(end.endedAt + delayMs) } : {}),
  };
  const failed: AttemptEvent = { type: 'failed', ...failure };
  return willRetry ? [failed, { type: 'retrying', ...failure }, ended] : [failed, ended];
}

function factsOf({ id, type, attempt }: Attempt): AttemptFacts {
  return { taskId: id, taskType: type, attempt };
}

type Outcome = Extract<AttemptEvent, { type: 'ended' }>['outcome'];

function outcomeOf({ ending, aborted }: AttemptEnd): Outcome {
  if (aborted?.type === 'lease_lost') return 'lost';
  if (ending.kind === 'refused') return 'handed_back';
  if (ending.kind !== 'failed' || aborted?.type !== 'stopping') return ending.kind;
  // As in `HeldLeases`: the handler did not decide what happens next, so the task is handed back.
  const isDecided = ending.retryable === false || ending.retryAfterMs !== undefined;
  return isDecided ? 'failed' : 'handed_back';
}

function attemptsMax(definition: AnyTask | undefined): number {
  const { maxAttempts = MAX_ATTEMPTS_DEFAULT, delaysMs } = definition?.retry ?? {};
  return delaysMs === undefined ? maxAttempts : delaysMs.length + 1;
}
