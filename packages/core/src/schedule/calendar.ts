/**
 * Cron times, which core cannot compute by itself: they depend on time zones. The shell passes this
 * in. Its results enter the log as facts, so replay never asks it (L1).
 */
export interface Calendar {
  /** The first time of the pattern after `after`; 0 when there is none. */
  next(cron: string, timeZone: string, after: number): number;
  /** The last time of the pattern up to `until`, and not before `since`; 0 when there is none. */
  latest(cron: string, timeZone: string, range: TimeRange): number;
}

interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** For partitions without schedules: a pattern has no times. */
export const EMPTY_CALENDAR: Calendar = { next: () => 0, latest: () => 0 };
