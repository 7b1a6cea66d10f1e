import type { Calendar } from './calendar.ts';
import type { ScheduleSettings } from './schedule-settings.ts';

/** No time: the schedule does not fire by itself any more. */
export const NO_TIME = 0;

interface After {
  /** Times up to this one do not count. */
  readonly after: number;
  /** The first time of a fixed rate. */
  readonly anchor: number;
}

/** The next time of the schedule within its window; `NO_TIME` when there is none. */
export function nextTime(
  { spec, window }: ScheduleSettings,
  calendar: Calendar,
  { after, anchor }: After,
): number {
  const from = Math.max(after, (window?.from ?? 0) - 1);
  const to = window?.to ?? Number.POSITIVE_INFINITY;
  let time = NO_TIME;
  if ('cron' in spec) time = calendar.next(spec.cron, spec.timeZone, from);
  else if ('at' in spec) time = spec.at > from ? spec.at : NO_TIME;
  else if ('everyMs' in spec) {
    const periods = Math.max(0, Math.floor((from - anchor) / spec.everyMs) + 1);
    time = anchor + periods * spec.everyMs;
  }
  return time > to ? NO_TIME : time;
}

/** The last time up to `until`, and not before `since`, which is a time of the schedule. */
export function latestTime(
  { spec, window }: ScheduleSettings,
  calendar: Calendar,
  { since, until }: { readonly since: number; readonly until: number },
): number {
  const end = Math.min(until, window?.to ?? Number.POSITIVE_INFINITY);
  if ('cron' in spec) {
    return Math.max(since, calendar.latest(spec.cron, spec.timeZone, { since, until: end }));
  }
  if (!('everyMs' in spec) || spec.mode === 'fixedDelay') return since;
  return since + Math.floor((end - since) / spec.everyMs) * spec.everyMs;
}

/** Number of times that are counted at most: a pattern has to be asked for each of them. */
const COUNTED_MAX = 1000;

/** How many times there are from `since` on and before `until`, both times of the schedule. */
export function timesBefore(
  settings: ScheduleSettings,
  calendar: Calendar,
  { since, until }: { readonly since: number; readonly until: number },
): number {
  const { spec } = settings;
  if ('everyMs' in spec) return Math.round((until - since) / spec.everyMs);
  let count = 0;
  for (let time = since; time < until && time !== NO_TIME && count < COUNTED_MAX; count++) {
    time = nextTime(settings, calendar, { after: time, anchor: 0 });
  }
  return count;
}

/** The first time of a fixed rate or delay whose spec arrives at `now`. */
export function anchorOf({ spec }: ScheduleSettings, now: number): number {
  if (!('everyMs' in spec)) return 0;
  return spec.startAt ?? now + spec.everyMs;
}
