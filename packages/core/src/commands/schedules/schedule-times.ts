import type { Slot } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import type { Calendar } from '../../schedule/calendar.ts';
import { anchorOf, NO_TIME, nextTime } from '../../schedule/fire-times.ts';
import type { ScheduleSettings } from '../../schedule/schedule-settings.ts';
import { settingsOf } from '../../state/schedules/read-schedule.ts';
import type { ReadonlyState } from '../../state/state.ts';

/** What is asked for the times of schedules outside of commands. */
export interface TimePorts {
  readonly calendar: Calendar;
  readonly utf8: Utf8;
}

interface Asked {
  readonly after: number;
  readonly anchor: number;
  readonly count: number;
  /** Later times do not count; at most a century after `after`. */
  readonly until?: number;
}

/** A search far into the future would take long, and nobody needs its result. */
const CENTURY_MS = 3_155_760_000_000;

/** Up to `count` times of a schedule, without jitter. */
export function timesOf(
  settings: ScheduleSettings,
  calendar: Calendar,
  { after, anchor, count, until = Number.POSITIVE_INFINITY }: Asked,
): number[] {
  const end = Math.min(until, after + CENTURY_MS);
  const times: number[] = [];
  let last = after;
  while (times.length < count) {
    const time = nextTime(settings, calendar, { after: last, anchor });
    if (time === NO_TIME || time > end) break;
    times.push(time);
    last = time;
  }
  return times;
}

/** The next times of a schedule that exists, or from `after` on. */
export function nextTimes(
  state: ReadonlyState,
  slot: Slot,
  asked: TimePorts & { readonly after?: number | undefined; readonly count: number },
): number[] {
  const { after, count, calendar, utf8 } = asked;
  const { nextAt, anchor } = state.schedules.table;
  const settings = settingsOf(state, slot, utf8);
  const next = nextAt[slot];
  if (after === undefined && next === NO_TIME) return [];
  if ('at' in settings.spec) return next > (after ?? 0) ? [next] : [];
  const start = after ?? next - 1;
  // The times of a fixed delay are those that it would have if its tasks took no time.
  const first = isDelay(settings) ? next : anchor[slot];
  return timesOf(settings, calendar, { after: start, anchor: first, count });
}

function isDelay({ spec }: ScheduleSettings): boolean {
  return 'everyMs' in spec && spec.mode === 'fixedDelay';
}

/** The times that settings would have from `now` on. */
export function plannedTimes(
  settings: ScheduleSettings,
  calendar: Calendar,
  { now, count }: { readonly now: number; readonly count: number },
): number[] {
  const after = 'at' in settings.spec ? 0 : now;
  return timesOf(settings, calendar, { after, anchor: anchorOf(settings, now), count });
}
