/**
 * How long a task may take; absent values mean no limit.
 *
 * `queueMs` counts while the task is in its queue, from each time it joins. `totalMs` counts from
 * the submit, or from the last manual retry or redrive. `runMs` counts from the lease.
 * `heartbeatMs` is the longest allowed time between reports that name the lease.
 */
export interface Timeouts {
  readonly queueMs?: number;
  readonly runMs?: number;
  readonly heartbeatMs?: number;
  readonly totalMs?: number;
}

/** Infinite without a limit. */
export type ResolvedTimeouts = Required<Timeouts>;

const UNLIMITED: ResolvedTimeouts = {
  queueMs: Number.POSITIVE_INFINITY,
  runMs: Number.POSITIVE_INFINITY,
  heartbeatMs: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
};

/**
 * Canonical: the same timeouts give the same text; empty for none. Events and state hold this text.
 */
export function timeoutsText(timeouts: Timeouts | undefined): string {
  if (timeouts === undefined) return '';
  const { queueMs, runMs, heartbeatMs, totalMs } = timeouts;
  const text = JSON.stringify({ queueMs, runMs, heartbeatMs, totalMs });
  return text === '{}' ? '' : text;
}

export function parseTimeouts(text: string): ResolvedTimeouts {
  return text === '' ? UNLIMITED : { ...UNLIMITED, ...(JSON.parse(text) as Timeouts) };
}

/** Only the timeouts that were set. */
export function statedTimeouts(text: string): Timeouts {
  return text === '' ? {} : (JSON.parse(text) as Timeouts);
}
