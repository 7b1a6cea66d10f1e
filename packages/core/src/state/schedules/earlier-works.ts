import type { Slot } from '../../base/ids.ts';

/** A task or run that a fire made. */
export interface MadeWork {
  readonly made: number;
  readonly madeAt: number;
  readonly isRun: boolean;
}

const NONE: ReadonlyMap<number, MadeWork> = new Map();

export interface EarlierWorksReader {
  of(schedule: Slot): ReadonlyMap<number, MadeWork>;
}

/**
 * What ran when a person triggered a schedule, and has not ended since. Like the last one, it
 * counts for `overlap`.
 */
export class EarlierWorks implements EarlierWorksReader {
  private readonly bySchedule = new Map<Slot, Map<number, MadeWork>>();

  /** By number, the oldest first. */
  of(schedule: Slot): ReadonlyMap<number, MadeWork> {
    return this.bySchedule.get(schedule) ?? NONE;
  }

  entries(): Iterable<readonly [Slot, ReadonlyMap<number, MadeWork>]> {
    return this.bySchedule;
  }

  add(schedule: Slot, work: MadeWork): void {
    const works = this.bySchedule.get(schedule) ?? new Map<number, MadeWork>();
    works.set(work.made, work);
    this.bySchedule.set(schedule, works);
  }

  remove(schedule: Slot, made: number): boolean {
    const works = this.bySchedule.get(schedule);
    if (works === undefined || !works.delete(made)) return false;
    if (works.size === 0) this.bySchedule.delete(schedule);
    return true;
  }

  clear(schedule: Slot): void {
    this.bySchedule.delete(schedule);
  }
}
