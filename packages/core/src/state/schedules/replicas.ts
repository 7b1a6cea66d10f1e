import type { Slot } from '../../base/ids.ts';
import type { Archive } from '../../structures/archive.ts';
import type { EarlierWorks } from './earlier-works.ts';

/** One of the tasks or runs that a permanent schedule keeps running. */
export interface Replica {
  /** Number of its task or run, and when that was made; 0 while none runs. */
  readonly made: number;
  readonly madeAt: number;
  readonly isRun: boolean;
  /** When the next one may start; meaningful while none runs. */
  readonly startAt: number;
  /** Short lives in a row. */
  readonly failures: number;
}

type Mutable = { -readonly [K in keyof Replica]: Replica[K] };

/** One that ran this long did not fail at its start, so the next one starts without delay. */
const HEALTHY_MS = 60_000;

const BACKOFF_MS = 1000;
const BACKOFF_MS_MAX = 60_000;

/** Numbers that a snapshot has for each replica. */
const FIGURES = 6;

/** In place of the failures: no replica, but an earlier work of a schedule. */
const IS_EARLIER = -1;

export interface ReplicasReader {
  of(schedule: Slot): readonly Replica[];
  /** Replicas that run. */
  liveOf(schedule: Slot): number;
}

/**
 * The replicas of permanent schedules.
 *
 * replicas.never-more: A schedule never has more replicas that run than it asks for, except while
 *   replicas that a change made superfluous are stopping.
 */
export class Replicas implements ReplicasReader {
  private readonly bySchedule = new Map<Slot, Mutable[]>();

  of(schedule: Slot): readonly Replica[] {
    return this.bySchedule.get(schedule) ?? [];
  }

  liveOf(schedule: Slot): number {
    return this.of(schedule).filter(({ made }) => made !== 0).length;
  }

  /** The schedule asks for this many from `at` on. Those that run stay until they have ended. */
  resize(schedule: Slot, count: number, at: number): void {
    const replicas = this.bySchedule.get(schedule) ?? [];
    while (replicas.length < count) {
      replicas.push({ made: 0, madeAt: 0, isRun: false, startAt: at, failures: 0 });
    }
    this.bySchedule.set(schedule, replicas);
    this.trim(schedule, count);
  }

  /** Those that do not run may start at once: the schedule was resumed. */
  release(schedule: Slot, at: number): void {
    for (const replica of this.bySchedule.get(schedule) ?? []) {
      if (replica.made === 0) replica.startAt = at;
    }
  }

  start(
    schedule: Slot,
    place: number,
    { made, madeAt, isRun }: Pick<Replica, 'made' | 'madeAt' | 'isRun'>,
  ): void {
    Object.assign(this.bySchedule.get(schedule)?.[place] ?? {}, { made, madeAt, isRun });
  }

  delay(schedule: Slot, until: number): void {
    for (const replica of this.bySchedule.get(schedule) ?? []) {
      if (replica.made === 0) replica.startAt = Math.max(replica.startAt, until);
    }
  }

  /** What a replica ran has ended: the next one starts later the more often it ended early. */
  end(
    schedule: Slot,
    { made, at, wasCancelled }: { made: number; at: number; wasCancelled: boolean },
  ): void {
    const replica = this.bySchedule.get(schedule)?.find((each) => each.made === made);
    if (replica === undefined) return;
    const isHealthy = wasCancelled || at - replica.madeAt >= HEALTHY_MS;
    replica.failures = isHealthy ? 0 : replica.failures + 1;
    const backoff = BACKOFF_MS * 2 ** Math.min(10, replica.failures - 1);
    replica.startAt = at + (isHealthy ? 0 : Math.min(BACKOFF_MS_MAX, backoff));
    replica.made = 0;
  }

  /** Drops replicas that do not run, until there are no more than `count`. */
  trim(schedule: Slot, count: number): void {
    const replicas = this.bySchedule.get(schedule) ?? [];
    for (let place = replicas.length - 1; place >= 0 && replicas.length > count; place--) {
      if (replicas[place].made === 0) replicas.splice(place, 1);
    }
    if (replicas.length === 0) this.bySchedule.delete(schedule);
  }

  /** When the next one may start; infinite when all run. */
  startAt(schedule: Slot): number {
    const idle = this.of(schedule).filter(({ made }) => made === 0);
    return Math.min(Number.POSITIVE_INFINITY, ...idle.map(({ startAt }) => startAt));
  }

  remove(schedule: Slot): void {
    this.bySchedule.delete(schedule);
  }

  /** With the earlier works, which have the same figures. */
  persist(archive: Archive, earlier: EarlierWorks): void {
    const schedules = [...this.bySchedule.keys()].sort((a, b) => a - b);
    const own = schedules.flatMap((schedule) =>
      this.of(schedule).flatMap((each) => figuresOf(schedule, each)),
    );
    const figures = archive.numbers('replicas', [...own, ...figuresOfEarlier(earlier)]);
    if (!archive.isLoading) return;
    for (let i = 0; i < figures.length; i += FIGURES) {
      const [schedule, made, madeAt, isRun, startAt, failures] = figures.slice(i, i + FIGURES);
      if (failures === IS_EARLIER) {
        earlier.add(schedule as Slot, { made, madeAt, isRun: isRun === 1 });
        continue;
      }
      const replicas = this.bySchedule.get(schedule as Slot) ?? [];
      replicas.push({ made, madeAt, isRun: isRun === 1, startAt, failures });
      this.bySchedule.set(schedule as Slot, replicas);
    }
  }
}

function figuresOf(schedule: Slot, each: Replica): number[] {
  const { made, madeAt, isRun, startAt, failures } = each;
  return [schedule, made, madeAt, isRun ? 1 : 0, startAt, failures];
}

function figuresOfEarlier(earlier: EarlierWorks): number[] {
  return [...earlier.entries()]
    .sort(([a], [b]) => a - b)
    .flatMap(([schedule, works]) =>
      [...works.values()].flatMap((work) =>
        figuresOf(schedule, { ...work, startAt: 0, failures: IS_EARLIER }),
      ),
    );
}
