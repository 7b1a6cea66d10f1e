import { nextTimes, type ReadonlyState, type Slot, settingsOf } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { ScheduleCalendar } from '@sluice/protocol';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';
import { TIME_PORTS } from './time-ports.ts';

const MINUTE_MS = 60_000;

const WINDOWS = {
  '24h': { stepMs: 15 * MINUTE_MS, intervals: 96 },
  '30d': { stepMs: 60 * MINUTE_MS, intervals: 720 },
} as const;

/** One turn of the engine looks at no more, so that a request delays no other for long. */
const PLACES_PER_TURN = 1000;
const TIMES_PER_TURN = 2000;
/** A pattern has to be asked for each of its times. */
const TIMES_PER_SCHEDULE = 3000;
const TIMES_MAX = 100_000;

/**
 * Counts the times of all active schedules of a namespace in the intervals of a window. A fixed
 * rate is computed; a cron pattern is asked time by time, up to a bound.
 */
export async function countTimes(
  engine: Pick<Engine, 'read'>,
  namespace: string,
  window: keyof typeof WINDOWS,
): Promise<ScheduleCalendar> {
  const { stepMs, intervals } = WINDOWS[window];
  const count = new TimeCount(stepMs, intervals);
  let place = 0;
  while (place !== DONE && count.asked < TIMES_MAX) {
    place = await engine.read((state) => count.look(state, namespace, place));
  }
  const isComplete = place === DONE && !count.wasCut;
  return { from: timeText(count.from), stepMs, counts: count.counts, isComplete };
}

const DONE = -1;

class TimeCount {
  readonly stepMs: number;
  readonly counts: number[];
  /** The start of the interval of the first look. */
  from = 0;
  /** Times that patterns were asked for. */
  asked = 0;
  /** A pattern has more times than were asked for. */
  wasCut = false;

  constructor(stepMs: number, intervals: number) {
    this.stepMs = stepMs;
    this.counts = new Array<number>(intervals).fill(0);
  }

  /** Looks at some schedules from a place on; returns the next place, or `DONE`. */
  look(state: ReadonlyState, namespace: string, place: number): number {
    const { table } = state.schedules;
    if (this.from === 0) this.from = state.now - (state.now % this.stepMs);
    const index = state.namespaces.find(namespace)?.index;
    const askedBefore = this.asked;
    let at = place;
    for (let seen = 0; at < table.used && seen < PLACES_PER_TURN; at++, seen++) {
      if (this.asked - askedBefore > TIMES_PER_TURN) break;
      const slot = at as Slot;
      if (table.number[slot] === 0 || table.namespace[slot] !== index) continue;
      if (table.paused[slot] === 1 || table.nextAt[slot] === 0) continue;
      this.add(state, slot);
    }
    return at >= table.used ? DONE : at;
  }

  private get end(): number {
    return this.from + this.counts.length * this.stepMs;
  }

  private add(state: ReadonlyState, slot: Slot): void {
    const next = state.schedules.table.nextAt[slot];
    const { spec, window } = settingsOf(state, slot, UTF8);
    if ('everyMs' in spec) {
      const end = Math.min(this.end, (window?.to ?? Number.POSITIVE_INFINITY) + 1);
      return addRate(this, { next, everyMs: spec.everyMs, end });
    }
    let after = next - 1;
    for (let asked = 0; asked < TIMES_PER_SCHEDULE; asked++) {
      const [time] = nextTimes(state, slot, { ...TIME_PORTS, after, count: 1 });
      this.asked += 1;
      if (time === undefined || time >= this.end) return;
      this.counts[placeOf(this, time)] += 1;
      after = time;
    }
    this.wasCut = true;
  }
}

interface Intervals {
  readonly from: number;
  readonly stepMs: number;
  readonly counts: number[];
}

interface Rate {
  readonly next: number;
  readonly everyMs: number;
  readonly end: number;
}

/** Adds the times `next`, `next + everyMs`, … before `end`. */
export function addRate(into: Intervals, { next, everyMs, end }: Rate): void {
  if (next >= end) return;
  const before = (time: number) => Math.max(0, Math.ceil((Math.min(time, end) - next) / everyMs));
  const last = placeOf(into, end - 1);
  for (let place = placeOf(into, next); place <= last; place++) {
    const start = into.from + place * into.stepMs;
    into.counts[place] += before(start + into.stepMs) - before(start);
  }
}

/** A time that is overdue counts as now. */
function placeOf({ from, stepMs }: Intervals, time: number): number {
  return Math.max(0, Math.floor((time - from) / stepMs));
}
