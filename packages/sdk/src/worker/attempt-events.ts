import type { AttemptEvent } from '../task/attempt-event.ts';
import type { TaskAborted } from '../task/failures.ts';
import type { Attempt } from './attempt-context.ts';
import { asDelay, type Ending } from './final-reports.ts';

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

export function endEvents(attempt: Attempt, end: AttemptEnd): AttemptEvent[] {
  const { durationMs } = end;
  const outcome = outcomeOf(end);
  const ended: AttemptEvent = { type: 'ended', ...factsOf(attempt), outcome, durationMs };
  const { ending } = end;
  if (outcome !== 'failed' || ending.kind !== 'failed') return [ended];

  const { retryable = true } = ending;
  const delayMs = asDelay(ending.retryAfterMs);
  const willRetry = retryable && attempt.attempt < (attempt.maxAttempts ?? MAX_ATTEMPTS_DEFAULT);
  const failure: Omit<Failed, 'type'> = {
    ...factsOf(attempt),
    error: 'thrown' in end ? end.thrown : Object.assign(new Error(), ending.error),
    durationMs,
    willRetry,
    ...(willRetry && delayMs !== undefined ? { retryAt: new Date(end.endedAt + delayMs) } : {}),
  };
  const failed: AttemptEvent = { type: 'failed', ...failure };
  return willRetry ? [failed, { type: 'retrying', ...failure }, ended] : [failed, ended];
}

function factsOf({ id, type, attempt }: Attempt): Facts {
  return { taskId: id, taskType: type, attempt };
}

type Failed = Extract<AttemptEvent, { error: unknown }>;
type Facts = Omit<Extract<AttemptEvent, { type: 'started' }>, 'type'>;
type Outcome = Extract<AttemptEvent, { type: 'ended' }>['outcome'];

function outcomeOf({ ending, aborted }: AttemptEnd): Outcome {
  if (aborted?.type === 'lease_lost') return 'lost';
  // The task ends as cancelled, whatever its handler returned after that.
  if (aborted?.type === 'cancelled') return 'cancelled';
  if (ending.kind === 'refused') return 'handed_back';
  if (ending.kind !== 'failed' || aborted?.type !== 'stopping') return ending.kind;
  // As in `HeldLeases`: the handler did not decide what happens next, so the task is handed back.
  const isDecided = ending.retryable === false || ending.retryAfterMs !== undefined;
  return isDecided ? 'failed' : 'handed_back';
}
