import type { ScheduleSettings } from '@sluice/core';

/** Zones whose clocks never change, with their distance from UTC in minutes. */
export const FIXED_ZONES: Readonly<Record<string, number>> = {
  UTC: 0,
  'Asia/Kolkata': 330,
  'Asia/Kathmandu': 345,
  'Pacific/Marquesas': -570,
};

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** A walk that finds nothing within this time gives up. No pattern of these worlds is rarer. */
const WALK_MS_MAX = 2 * 86_400_000;

/**
 * The times of a schedule, by trying one second after the other. It shares no code with
 * `packages/calendar` and `core/src/schedule`, so that they can disagree with it.
 */
export class NaiveTimes {
  private readonly settings: ScheduleSettings;
  /** The first time of a fixed rate. */
  private readonly anchor: number;
  private readonly matches: ((at: number) => boolean) | undefined;
  private readonly stepMs: number;
  /** No time is after `after` and before `found`. */
  private after = 0;
  private found = 0;

  constructor(settings: ScheduleSettings, anchor: number) {
    this.settings = settings;
    this.anchor = anchor;
    const { spec } = settings;
    const cron = 'cron' in spec ? spec.cron : '';
    this.stepMs = cron.split(' ').length === 6 ? SECOND_MS : MINUTE_MS;
    this.matches = 'cron' in spec ? matcherOf(spec.cron, FIXED_ZONES[spec.timeZone]) : undefined;
  }

  /** The first time after `after` within the window; 0 when there is none. */
  next(after: number): number {
    const { from = 0, to = Number.POSITIVE_INFINITY } = this.settings.window ?? {};
    const time = this.unbounded(Math.max(after, from - 1));
    return time > to ? 0 : time;
  }

  /** The times after `after` and up to `until`, within the window. */
  between(after: number, until: number): number[] {
    const times: number[] = [];
    for (let time = this.next(after); time !== 0 && time <= until; time = this.next(time)) {
      times.push(time);
    }
    return times;
  }

  private unbounded(after: number): number {
    if (after >= this.after && after < this.found) return this.found;
    const found = this.search(after);
    this.after = after;
    this.found = found;
    return found;
  }

  private search(after: number): number {
    const { spec } = this.settings;
    if ('at' in spec) return spec.at > after ? spec.at : 0;
    if ('everyMs' in spec) {
      // Begins at a time that is known to be one, if there is one before `after`.
      let time = this.found !== 0 && this.found <= after ? this.found : this.anchor;
      while (time <= after) time += spec.everyMs;
      return time;
    }
    if (this.matches === undefined) return 0;
    let time = Math.floor(after / this.stepMs) * this.stepMs + this.stepMs;
    const end = after + WALK_MS_MAX;
    while (time <= end && !this.matches(time)) time += this.stepMs;
    return time <= end ? time : 0;
  }
}

/** Understands only the fields that these worlds draw: `*`, steps, lists and ranges of numbers. */
function matcherOf(cron: string, offsetMinutes: number): (at: number) => boolean {
  const fields = cron.split(' ');
  const [second, minute, hour] = fields.length === 6 ? fields : ['0', ...fields];
  const sets = [allowed(second, 60), allowed(minute, 60), allowed(hour, 24)];
  return (at) => {
    const local = new Date(at + offsetMinutes * MINUTE_MS);
    const parts = [local.getUTCSeconds(), local.getUTCMinutes(), local.getUTCHours()];
    return parts.every((part, place) => sets[place].has(part));
  };
}

function allowed(field: string, count: number): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range, step = '1'] = part.split('/');
    const [first, last = first] = range === '*' ? ['0', String(count - 1)] : range.split('-');
    for (let value = Number(first); value <= Number(last); value += Number(step)) {
      values.add(value);
    }
  }
  return values;
}
