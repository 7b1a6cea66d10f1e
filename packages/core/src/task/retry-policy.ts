/**
 * How often a task is tried and how long it waits in between.
 *
 * Either a rule (attempts and backoff) or a list of delays, which allows one attempt more than it
 * has delays.
 */
export interface RetryPolicy {
  readonly maxAttempts?: number;
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  readonly delayMs?: number;
  readonly maxDelayMs?: number;
  readonly jitter?: boolean;
  readonly delaysMs?: readonly number[];
}

/** A policy with all defaults filled in. */
export interface ResolvedRetry {
  readonly maxAttempts: number;
  readonly backoff: 'fixed' | 'linear' | 'exponential';
  readonly delayMs: number;
  readonly maxDelayMs: number;
  readonly jitter: boolean;
  readonly delaysMs: readonly number[] | undefined;
}

const DEFAULTS: ResolvedRetry = {
  maxAttempts: 3,
  backoff: 'exponential',
  delayMs: 1000,
  maxDelayMs: 60_000,
  jitter: true,
  delaysMs: undefined,
};

/** Jitter adds up to a quarter and never subtracts, so that a requested delay is always kept. */
const JITTER_SHARE = 0.25;

/**
 * Canonical: the same policy gives the same text; empty for none. Events and state hold this text.
 */
export function retryText(policy: RetryPolicy | undefined): string {
  if (policy === undefined) return '';
  const { maxAttempts, backoff, delayMs, maxDelayMs, jitter, delaysMs } = policy;
  return JSON.stringify({ maxAttempts, backoff, delayMs, maxDelayMs, jitter, delaysMs });
}

export function parseRetry(text: string): ResolvedRetry {
  if (text === '') return DEFAULTS;
  const policy = JSON.parse(text) as RetryPolicy;
  const ladder = policy.delaysMs === undefined ? {} : { maxAttempts: policy.delaysMs.length + 1 };
  // A delay that was asked for is kept, also if it is longer than the default bound.
  const maxDelayMs = Math.max(DEFAULTS.maxDelayMs, policy.delayMs ?? 0);
  return { ...DEFAULTS, ...ladder, maxDelayMs, ...policy };
}

/** How long to wait after the failure of `attempt`; `random` is from 0 up to 1. */
export function backoffMs(policy: ResolvedRetry, attempt: number, random: number): number {
  // A listed delay is used as requested; only delays that grow by a rule need a cap.
  const capMs = policy.delaysMs === undefined ? policy.maxDelayMs : Number.POSITIVE_INFINITY;
  const delayMs = Math.min(ruleMs(policy, attempt), capMs);
  const jitterMs = policy.jitter ? delayMs * JITTER_SHARE * random : 0;
  return Math.floor(delayMs + jitterMs);
}

function ruleMs(policy: ResolvedRetry, attempt: number): number {
  if (policy.delaysMs !== undefined) {
    return policy.delaysMs[Math.min(attempt, policy.delaysMs.length) - 1] ?? 0;
  }
  switch (policy.backoff) {
    case 'fixed':
      return policy.delayMs;
    case 'linear':
      return policy.delayMs * attempt;
    case 'exponential':
      return policy.delayMs * 2 ** (attempt - 1);
  }
}

/** A number from 0 up to 1, evenly distributed, from a random seed and the place in the command. */
export function jitterOf(seed: number, index: number): number {
  let hash = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
