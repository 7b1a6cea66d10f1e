import type { SessionId } from '../ids.ts';
import type { RetryPolicy } from '../retry-policy.ts';

/** A task as the model knows it. */
export interface ModelTask {
  readonly number: number;
  readonly type: string;
  readonly priority: number;
  state: 'waiting' | 'queued' | 'leased' | 'running' | 'succeeded' | 'failed';
  reason: string;
  attempt: number;
  /** The current lease or the last one, and who had it. */
  lease: string | undefined;
  session: SessionId | undefined;
  readonly input: string;
  result: string;
  /** The kind of the report that ended the last lease; empty when none did. */
  answered: string;
  /** While it waits for its time. */
  dueAt: number;
  readonly retry: RetryPolicy;
}

/** What is submitted. Policies say everything, and have no jitter, which nobody can foretell. */
export interface SubmittedTask {
  readonly type: string;
  readonly priority: number;
  readonly input: string;
  readonly delayMs: number;
  readonly retry: RetryPolicy;
  readonly dedupe?: { readonly key: number; readonly body: number; readonly windowMs: number };
}

export function attemptsOf({ maxAttempts, delaysMs }: RetryPolicy): number {
  return delaysMs === undefined ? (maxAttempts ?? 0) : delaysMs.length + 1;
}

export function delayAfter({ retry, attempt }: ModelTask): number {
  const { backoff, delayMs = 0, maxDelayMs = 0, delaysMs } = retry;
  if (delaysMs !== undefined) return delaysMs[attempt - 1];
  if (backoff === 'fixed') return Math.min(delayMs, maxDelayMs);
  if (backoff === 'linear') return Math.min(delayMs * attempt, maxDelayMs);
  let doubled = delayMs;
  for (let n = 1; n < attempt; n++) doubled *= 2;
  return Math.min(doubled, maxDelayMs);
}
