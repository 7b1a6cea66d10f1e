/**
 * How long a task may take; what is absent is not limited.
 *
 * `queueMs` counts while the task stands in its queue, from each time it joins it; `totalMs` from
 * the submit, or from a retry by hand; `runMs` from the lease; `heartbeatMs` is the longest silence
 * of reports that name the lease.
 */
export interface Timeouts {
  readonly queueMs?: number;
  readonly runMs?: number;
  readonly heartbeatMs?: number;
  readonly totalMs?: number;
}

/** Infinite where nothing is limited. */
export type ResolvedTimeouts = Required<Timeouts>;

const UNLIMITED: ResolvedTimeouts = {
  queueMs: Number.POSITIVE_INFINITY,
  runMs: Number.POSITIVE_INFINITY,
  heartbeatMs: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
};

/** The same text for the same timeouts; empty for none. It is what events and state hold. */
export function timeoutsText(timeouts: Timeouts | undefined): string {
  if (timeouts === undefined) return '';
  const { queueMs, runMs, heartbeatMs, totalMs } = timeouts;
  const text = JSON.stringify({ queueMs, runMs, heartbeatMs, totalMs });
  return text === '{}' ? '' : text;
}

export function parseTimeouts(text: string): ResolvedTimeouts {
  return text === '' ? UNLIMITED : { ...UNLIMITED, ...(JSON.parse(text) as Timeouts) };
}

/** What was said, without what was not. */
export function statedTimeouts(text: string): Timeouts {
  return text === '' ? {} : (JSON.parse(text) as Timeouts);
}
