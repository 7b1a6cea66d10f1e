import { type CronPattern, parseCron } from './cron-pattern.ts';
import { firstLocal } from './local-times.ts';
import { canonicalName, TimeZone, type ZonePeriod } from './time-zone.ts';

/** Patterns and zones that are kept parsed. */
const CACHED_MAX = 10_000;

/** Later times do not count: the end of the year 9999. */
const TIME_MAX = 253_402_300_799_999;

/** The answer holds for every instant from `after` up to the next time. */
interface Known {
  readonly pattern: CronPattern;
  readonly zone: TimeZone;
  after: number;
  next: number;
}

/**
 * The times of cron patterns in time zones.
 *
 * calendar.clock-changes: A local time that the clocks skip counts as the first instant after the
 *   gap. A local time that they repeat counts once, the first time. Patterns that match every hour
 *   are about elapsed time instead: they go on in a repeated hour, and skip what the clocks skip.
 */
export class CronCalendar {
  private readonly known = new Map<string, Known>();
  private readonly zones = new Map<string, TimeZone>();

  /** The first time after `after`; 0 when there is none. */
  next(cron: string, timeZone: string, after: number): number {
    const known = this.find(cron, timeZone);
    // Schedules that share a pattern ask for the same time one after the other.
    if (after >= known.after && after < known.next) return known.next;
    const next = nextTime(known, after);
    known.after = after;
    known.next = next;
    return next;
  }

  /** The last time up to `until`, and not before `since`; 0 when there is none. */
  latest(cron: string, timeZone: string, range: { since: number; until: number }): number {
    const known = this.find(cron, timeZone);
    const { since, until } = range;
    const isBefore = (after: number) => {
      const next = nextTime(known, after);
      return next !== 0 && next <= until;
    };
    let span = 1000;
    while (until - span >= since && !isBefore(until - span)) span *= 2;
    // The latest time is after `low` and not after `high`.
    let low = Math.max(since - 1, until - span);
    if (!isBefore(low)) return 0;
    let high = until;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (isBefore(middle)) low = middle;
      else high = middle;
    }
    return nextTime(known, low);
  }

  private find(cron: string, timeZone: string): Known {
    const key = `${timeZone} ${cron}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    // Zones have many spellings, and few names.
    const name = canonicalName(timeZone);
    const zone = this.zones.get(name) ?? new TimeZone(name);
    this.zones.set(name, zone);
    if (this.known.size >= CACHED_MAX) this.known.clear();
    const made = { pattern: parseCron(cron), zone, after: 0, next: 0 };
    this.known.set(key, made);
    return made;
  }
}

function nextTime({ pattern, zone }: Pick<Known, 'pattern' | 'zone'>, after: number): number {
  let period = zone.periodAt(after);
  let from = after + 1;
  // Each period is some months long, and a pattern without any time must end.
  for (let periods = 0; periods < PERIODS_MAX && from <= TIME_MAX; periods++) {
    const local = firstLocal(pattern, firstCounting(pattern, zone, { period, from }), Infinity);
    // Nothing ever matches: 30 February.
    if (Number.isNaN(local)) return 0;
    if (local < period.end + period.offset) return local - period.offset;
    const following = zone.periodAt(period.end);
    if (isSkipped(pattern, { local, period, following })) return following.start;
    // Not the start of the following one: periods that were cut short may overlap.
    from = period.end;
    // Far times are reached in one leap, a little early because offsets differ.
    const leap = local - following.offset - DAY_MS;
    period = leap >= following.end ? zone.periodAt(leap) : following;
    if (leap >= following.end) from = Math.max(from, leap);
  }
  return 0;
}

const PERIODS_MAX = 1000;
const DAY_MS = 86_400_000;

interface From {
  readonly period: ZonePeriod;
  readonly from: number;
}

/** The local time at `from`; local times that are repeated in the period do not count again. */
function firstCounting(pattern: CronPattern, zone: TimeZone, { period, from }: From): number {
  const local = from + period.offset;
  if (pattern.isEveryHour) return local;
  const before = zone.periodAt(period.start - 1);
  return Math.max(local, period.start + before.offset);
}

/** Whether the clocks skip this local time at the end of a period. */
function isSkipped(
  { isEveryHour }: CronPattern,
  {
    local,
    period,
    following,
  }: { readonly local: number; readonly period: ZonePeriod; readonly following: ZonePeriod },
): boolean {
  if (isEveryHour || following.offset <= period.offset) return false;
  return local < following.start + following.offset;
}
