const HOUR_MS = 3_600_000;

/** How far ahead a zone is searched for the next change of its clocks. */
const SEARCH_MS = 400 * 24 * HOUR_MS;
/** No zone changes its clocks twice within this time, and back. */
const STEP_MS = 7 * 24 * HOUR_MS;

/** A time during which the clocks of a zone do not change. */
export interface ZonePeriod {
  /** From this instant on, and before `end`. */
  readonly start: number;
  readonly end: number;
  /** Local time minus UTC. */
  readonly offset: number;
}

const PERIODS_MAX = 1000;

/** The clocks of UTC never change. */
const ALWAYS_UTC: ZonePeriod = { start: -8.64e15, end: 8.64e15, offset: 0 };

/** The clock changes of one time zone. They are found when they are needed, and remembered. */
export class TimeZone {
  private readonly format: Intl.DateTimeFormat;
  private readonly isFixed: boolean;
  /** Most recently used last. */
  private readonly periods: ZonePeriod[] = [];

  /** Throws a `RangeError` when there is no such zone. */
  constructor(name: string) {
    this.isFixed = name === 'UTC';
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  }

  /** The period that contains this instant. It may be cut short at either end where it is long. */
  periodAt(instant: number): ZonePeriod {
    for (let i = this.periods.length - 1; i >= 0; i--) {
      const period = this.periods[i];
      if (period.start <= instant && instant < period.end) return period;
    }
    if (this.isFixed) return ALWAYS_UTC;
    const offset = this.offsetAt(instant);
    const start = this.changeBefore(instant, offset);
    const end = this.changeAfter(instant, offset);
    const period = { start, end, offset };
    if (this.periods.length >= PERIODS_MAX) this.periods.shift();
    this.periods.push(period);
    return period;
  }

  /** The first instant after `from` with another offset, or the end of the search. */
  private changeAfter(from: number, offset: number): number {
    for (let at = from; at < from + SEARCH_MS; at += STEP_MS) {
      if (this.offsetAt(at + STEP_MS) !== offset) return this.change(at, at + STEP_MS, offset);
    }
    return from + SEARCH_MS;
  }

  /** The instant at which the period began, or the end of the search. */
  private changeBefore(from: number, offset: number): number {
    for (let at = from; at > from - SEARCH_MS; at -= STEP_MS) {
      const other = this.offsetAt(at - STEP_MS);
      if (other !== offset) return this.change(at - STEP_MS, at, other);
    }
    return from - SEARCH_MS;
  }

  /** The first instant of a range whose offset is not `offset`, with which the range begins. */
  private change(from: number, to: number, offset: number): number {
    let [low, high] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle * 1000) === offset) low = middle;
      else high = middle;
    }
    return high * 1000;
  }

  private offsetAt(instant: number): number {
    const second = Math.floor(instant / 1000) * 1000;
    const parts: Record<string, string> = {};
    for (const { type, value } of this.format.formatToParts(second)) parts[type] = value;
    const year = parts.era?.startsWith('B') ? 1 - Number(parts.year) : Number(parts.year);
    const local = Date.UTC(
      year,
      Number(parts.month) - 1,
      Number(parts.day),
      Number(parts.hour),
      Number(parts.minute),
      Number(parts.second),
    );
    return local - second;
  }
}

/** One of several names of a zone. Throws a `RangeError` when there is no such zone. */
export function canonicalName(name: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
}

/** Names that were looked up: a look-up takes longer than all else of a request. */
const known = new Set<string>();
const KNOWN_MAX = 1000;

/** Whether this is the name of a time zone, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  if (known.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    if (known.size >= KNOWN_MAX) known.clear();
    known.add(name);
    return true;
  } catch {
    // The only reason why it throws.
    return false;
  }
}
