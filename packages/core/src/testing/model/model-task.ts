import type { SessionId } from '../../base/ids.ts';
import type { TaskTypeDefinition } from '../../state/task-types.ts';
import type { Resources } from '../../task/resources.ts';
import type { RetryPolicy } from '../../task/retry-policy.ts';
import type { Callback } from '../../task/task-labels.ts';
import type { Timeouts } from '../../task/timeouts.ts';

export type ModelState =
  | 'waiting'
  | 'queued'
  | 'leased'
  | 'running'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'expired'
  | 'cancelled';

/** A task as the model knows it. */
export interface ModelTask {
  readonly number: number;
  /** Key of its queue. */
  readonly type: string;
  priority: number;
  state: ModelState;
  reason: string;
  attempt: number;
  /** The current lease or the last one, and its session. */
  lease: string | undefined;
  session: SessionId | undefined;
  input: string;
  result: string;
  /** The kind of report that ended the last lease; empty when none did. */
  answered: string;
  /** When a waiting task is due; with jitter, up to `jitterMs` later. */
  dueAt: number;
  jitterMs: number;
  /** While queued: when it joined, and its place in line at its level. */
  joinedAt: number;
  place: number;
  /** While paused: how long it had been queued, if it was. */
  queuedMs: number | undefined;
  readonly submittedAt: number;
  /** When its total timeout started. */
  liveSince: number;
  leasedAt: number;
  endedAt: number;
  readonly resources: Resources;
  readonly constraints: readonly string[];
  readonly retry: RetryPolicy | undefined;
  timeouts: Timeouts;
  tags: Readonly<Record<string, string>>;
  readonly callback: Callback | undefined;
  /** The reason and deadline of a stop request. */
  stop: { readonly reason: string; readonly at: number } | undefined;
  /** When its heartbeat timeout ends. */
  silentAt: number | undefined;
  /** Whether it ended and is no longer a dead letter. */
  isDiscarded: boolean;
}

/** Fields that a task may leave to the definition of its type. */
export type ModelDefinition = TaskTypeDefinition;

/** A task as submitted. */
export interface SubmittedTask extends ModelDefinition {
  readonly type: string;
  readonly input: string;
  readonly delayMs: number;
  readonly dedupe?: {
    readonly key: string;
    readonly input: string;
    readonly windowMs: number;
    readonly onDuplicate: 'refuse' | 'existing' | 'replace';
  };
}

const RETRY: Required<Omit<RetryPolicy, 'delaysMs'>> = {
  maxAttempts: 3,
  backoff: 'exponential',
  delayMs: 1000,
  maxDelayMs: 60_000,
  jitter: true,
};

export function attemptsOf({ retry }: ModelTask): number {
  const { maxAttempts, delaysMs } = { ...RETRY, ...retry };
  return delaysMs === undefined ? maxAttempts : delaysMs.length + 1;
}

/** The minimum delay, and how much jitter may be added. */
export function delayAfter({ retry, attempt }: ModelTask): { delayMs: number; jitterMs: number } {
  const policy = { ...RETRY, ...retry };
  const delayMs = ruleMs(policy, attempt);
  return { delayMs, jitterMs: policy.jitter ? Math.floor(delayMs / 4) : 0 };
}

function ruleMs(policy: typeof RETRY & RetryPolicy, attempt: number): number {
  const { backoff, delayMs, maxDelayMs, delaysMs } = policy;
  if (delaysMs !== undefined) return delaysMs[attempt - 1];
  if (backoff === 'fixed') return Math.min(delayMs, maxDelayMs);
  if (backoff === 'linear') return Math.min(delayMs * attempt, maxDelayMs);
  let doubled = delayMs;
  for (let n = 1; n < attempt; n++) doubled *= 2;
  return Math.min(doubled, maxDelayMs);
}

export function isOver(task: ModelTask): boolean {
  return ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'].includes(task.state);
}

/** The key of a queue, as the model names types. */
export function keyOf(namespace: string, type: string): string {
  return namespace === 'default' ? type : `${namespace}/${type}`;
}

export function namespaceOf(key: string): string {
  return key.includes('/') ? key.split('/')[0] : 'default';
}

export function typeOf(key: string): string {
  return key.split('/').at(-1) ?? '';
}
