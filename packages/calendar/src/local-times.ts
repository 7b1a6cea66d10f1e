import type { CronPattern } from './cron-pattern.ts';

/**
 * Local times as milliseconds, as if the local clock were UTC. So one day always has 24 hours here;
 * `cron-calendar.ts` knows when clocks change.
 */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Days without a match after which a pattern has no time: 29 February is absent for eight years
 * around 2100, and may have to fall on one day of the week.
 */
const DAYS_MAX = 45 * 366;

/** The first matching local time from `from` on, and before `until`; NaN when there is none. */
export function firstLocal(pattern: CronPattern, from: number, until: number): number {
  const start = Math.ceil(from / SECOND_MS) * SECOND_MS;
  let day = Math.floor(start / DAY_MS) * DAY_MS;
  let within = start - day;
  for (let days = 0; days < DAYS_MAX && day < until; days++) {
    const skipped = skipMonth(pattern, day);
    if (skipped > day) {
      days += (skipped - day) / DAY_MS - 1;
      day = skipped;
      within = 0;
      continue;
    }
    if (matchesDay(pattern, day)) {
      const time = timeOfDay(pattern, within);
      if (time >= 0) return day + time < until ? day + time : Number.NaN;
    }
    day += DAY_MS;
    within = 0;
  }
  return Number.NaN;
}

/** The first day of the next month when this month does not count. */
function skipMonth({ months }: CronPattern, day: number): number {
  const date = new Date(day);
  const month = date.getUTCMonth();
  if ((months & (1 << (month + 1))) !== 0) return day;
  return Date.UTC(date.getUTCFullYear(), month + 1, 1);
}

/** The first time of a day from `from` on; -1 when there is none. */
function timeOfDay({ hours, minutes, seconds }: CronPattern, from: number): number {
  for (const hour of hours) {
    const hourAt = hour * HOUR_MS;
    if (hourAt + HOUR_MS <= from) continue;
    for (const minute of minutes) {
      const minuteAt = hourAt + minute * MINUTE_MS;
      if (minuteAt + MINUTE_MS <= from) continue;
      for (const second of seconds) {
        const at = minuteAt + second * SECOND_MS;
        if (at >= from) return at;
      }
    }
  }
  return -1;
}

function matchesDay(pattern: CronPattern, day: number): boolean {
  const { isMonthAny, isWeekAny } = pattern.days;
  const date = new Date(day);
  const ofMonth = isMonthAny || matchesMonthDay(pattern, date);
  const ofWeek = isWeekAny || matchesWeekDay(pattern, date);
  // Two restrictions: one of them is enough.
  if (!isMonthAny && !isWeekAny) return ofMonth || ofWeek;
  return ofMonth && ofWeek;
}

function matchesMonthDay({ days }: CronPattern, date: Date): boolean {
  const day = date.getUTCDate();
  if ((days.ofMonth & (1 << day)) !== 0) return true;
  const last = daysOfMonth(date);
  if (days.isLast && day === last) return true;
  if (days.isLastWeekday && day === nearestWeekday(date, last)) return true;
  return days.nearest.some((near) => near <= last && day === nearestWeekday(date, near));
}

function matchesWeekDay({ days }: CronPattern, date: Date): boolean {
  const weekday = date.getUTCDay();
  if ((days.ofWeek & (1 << weekday)) !== 0) return true;
  const day = date.getUTCDate();
  return days.nth.some(({ day: wanted, nth }) => {
    if (wanted !== weekday) return false;
    return nth === 0 ? day + 7 > daysOfMonth(date) : Math.ceil(day / 7) === nth;
  });
}

function daysOfMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

/** The weekday nearest to a day, in the same month. */
function nearestWeekday(date: Date, day: number): number {
  const at = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day);
  const weekday = new Date(at).getUTCDay();
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === daysOfMonth(date) ? day - 2 : day + 1;
  return day;
}
