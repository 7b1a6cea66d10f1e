import { type Event, USAGE_FIGURES, type Usage } from '@sluice/core';

/** One attempt of a task. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly worker: string;
  readonly leasedAt: number;
  /** 0 when the start was not reported. */
  startedAt: number;
  /** 0 while it runs. */
  endedAt: number;
  /** How it ended; empty while it runs. */
  outcome: string;
  /** JSON of its error, or of an output that came too late for its task. */
  error: string;
  output: string;
  /** What it used, if its worker said so. */
  usage?: Usage;
}

/** A worker need not report the start separately: its final report may contain the time. */
export function noteStart(attempts: readonly AttemptRecord[], startedAt: number): void {
  const attempt = attempts.at(-1);
  if (attempt === undefined || attempt.startedAt !== 0 || attempt.endedAt !== 0) return;
  attempt.startedAt = startedAt;
}

type Used = Extract<Event, { type: 'attempt_used' }>;

export function noteUsage(attempts: readonly AttemptRecord[], event: Used): void {
  const attempt = attempts.at(-1);
  const measured = USAGE_FIGURES.filter((_, bit) => event.measured & (1 << bit));
  if (attempt === undefined || measured.length === 0) return;
  attempt.usage = Object.fromEntries(measured.map((figure) => [figure, event[figure]]));
}

export function closeAttempt(
  attempts: readonly AttemptRecord[],
  at: number,
  outcome: string,
): void {
  const attempt = attempts.at(-1);
  // If the handler left the end to an outside call, its attempt is over already.
  if (attempt === undefined || attempt.endedAt !== 0) return;
  attempt.endedAt = at;
  attempt.outcome = outcome;
}
