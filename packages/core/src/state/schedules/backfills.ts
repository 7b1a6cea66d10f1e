import type { Slot } from '../../base/ids.ts';
import type { Archive } from '../../structures/archive.ts';

/** Fires a schedule at the times of a past range, at a limited rate. Durable, as redrives are. */
export interface Backfill {
  readonly schedule: Slot;
  /** The next time of the range; 0 when none is left. */
  readonly nextTime: number;
  readonly until: number;
  readonly ratePerSec: number;
  /** When the next fire is allowed, with fractions of a millisecond. */
  readonly nextAt: number;
  readonly done: number;
}

type Mutable = { -readonly [K in keyof Backfill]: Backfill[K] };

export interface BackfillsReader {
  readonly next: number;
  readonly size: number;
  get(number: number): Backfill | undefined;
  entries(): Iterable<readonly [number, Backfill]>;
  of(schedule: Slot): number;
}

/** As for redrives: how far a delayed backfill may catch up. */
const CATCH_UP_MS = 50;

const FIGURES = 7;

export class Backfills implements BackfillsReader {
  next = 1;
  private readonly running = new Map<number, Mutable>();

  get size(): number {
    return this.running.size;
  }

  get(number: number): Backfill | undefined {
    return this.running.get(number);
  }

  entries(): Iterable<readonly [number, Backfill]> {
    return this.running;
  }

  /** The number of the schedule's backfill; 0 for none. A schedule has at most one. */
  of(schedule: Slot): number {
    for (const [number, backfill] of this.running)
      if (backfill.schedule === schedule) return number;
    return 0;
  }

  /** When the next fire of any backfill is allowed. */
  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { nextAt } of this.running.values()) earliest = Math.min(earliest, nextAt);
    return Math.ceil(earliest);
  }

  start(number: number, backfill: Backfill): void {
    this.running.set(number, { ...backfill });
    this.next = number + 1;
  }

  step(number: number, { at, nextTime }: { at: number; nextTime: number }): void {
    const backfill = this.running.get(number);
    if (backfill === undefined) return;
    backfill.done += 1;
    backfill.nextTime = nextTime;
    backfill.nextAt = Math.max(backfill.nextAt, at - CATCH_UP_MS) + 1000 / backfill.ratePerSec;
  }

  delay(number: number, until: number): void {
    const backfill = this.running.get(number);
    if (backfill !== undefined) backfill.nextAt = Math.max(backfill.nextAt, until);
  }

  end(number: number): void {
    this.running.delete(number);
  }

  persist(archive: Archive): void {
    this.next = archive.number('nextBackfill', this.next);
    const figures = archive.numbers(
      'backfills',
      [...this.running].flatMap(([number, each]) => [
        number,
        each.schedule,
        each.nextTime,
        each.until,
        each.ratePerSec,
        each.nextAt,
        each.done,
      ]),
    );
    if (!archive.isLoading) return;
    for (let i = 0; i < figures.length; i += FIGURES) {
      const [number, schedule, nextTime, until, ratePerSec, nextAt, done] = figures.slice(i);
      const figure = { schedule: schedule as Slot, nextTime, until, ratePerSec, nextAt, done };
      this.running.set(number, figure);
    }
  }
}
