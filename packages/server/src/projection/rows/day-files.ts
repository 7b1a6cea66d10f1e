import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bytesOnDisk, isUnusable, removeDatabase, setAside, syncFolder } from './database-file.ts';
import { DayFile } from './day-file.ts';
import { DAY_NAME, endOf, KEPT, nameOf, startOf } from './day-names.ts';
import { isCovered } from './row-conditions.ts';
import { hasTags, type RowQuery, type Times } from './row-query.ts';
import type { StoredRecord } from './stored-row.ts';
import type { TaskRecord } from './task-record.ts';

/** Something of a day is left out of search and history from here on. */
interface LeftOut {
  readonly day: string;
  /** Id of the task. */
  readonly task: string;
  readonly why: string;
}

export type FileNotice =
  | { readonly type: 'day_set_aside'; readonly file: string; readonly why: string }
  | ({ readonly type: 'row_set_aside' } & LeftOut)
  | ({ readonly type: 'record_left_out' } & LeftOut)
  | { readonly type: 'day_removed'; readonly day: string };

export interface Retention {
  /** Days whose last task is older than this are removed. */
  readonly ageMs: number;
  /** The oldest days are removed while all together are larger than this. */
  readonly bytesMax: number;
}

/** Maximum number of rows that one step looks at when no index helps. */
const ROWS_AT_ONCE = 10_000;

/** Maximum number of rows that one step of retention removes, or looks at to move them. */
const RETAINED_AT_ONCE = 1000;

/** Nothing that is meant is between what came before and this number; looking may stop here. */
export interface Passed {
  readonly passed: number;
}

/** Whether there is something newer of a task than its row. */
type IsOld = (number: number) => boolean;

interface Day {
  readonly name: string;
  readonly file: DayFile;
  /** Of its oldest task; infinite while it has none. */
  first: number;
}

/**
 * The database files of the projection: one per day of submits, and one for what outlives its day.
 *
 * A task is found by its number alone, because numbers and days rise together.
 */
export class DayFiles {
  private readonly folder: string;
  private readonly notify: (notice: FileNotice) => void;
  /** Oldest first; the one for what was kept is the first. */
  private readonly days: Day[] = [];
  /** The day that is being removed, while it is: what outlives it moves in steps. */
  private leaving: { readonly name: string; next: number } | undefined;

  constructor(folder: string, notify: (notice: FileNotice) => void) {
    this.folder = folder;
    this.notify = notify;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    syncFolder(dirname(folder));
    const names = readdirSync(folder).flatMap((name) => DAY_NAME.exec(name)?.[1] ?? []);
    for (const name of [KEPT, ...names.sort()]) this.days.push(this.openDay(name));
  }

  /** What the files take of the disk. */
  get bytes(): number {
    return this.days.reduce((sum, { name }) => sum + bytesOnDisk(this.pathOf(name)), 0);
  }

  /** What rows take: space that was freed, or is written twice for a while, does not count. */
  private get usedBytes(): number {
    return this.days.reduce((sum, day) => sum + this.guarded(day, (file) => file.usedBytes), 0);
  }

  /** Of the newest task; 0 when there is none. */
  get newest(): number {
    return this.days.reduce((newest, { file }) => Math.max(newest, file.last ?? 0), 0);
  }

  /** Writes records, durably. Those of one day all or none. */
  write(records: readonly StoredRecord[]): void {
    const byDay = Map.groupBy(records, ({ record }) => this.dayFor(record));
    for (const [day, its] of byDay) this.writeTo(day, its);
  }

  read(number: number): StoredRecord | undefined {
    return this.readAhead(number, 1).get(number);
  }

  /** The tasks of `count` numbers from this one on, as far as they are of the same day. */
  readAhead(number: number, count: number): Map<number, StoredRecord> {
    const own = this.days.findLast(({ first }) => first <= number) ?? this.days[0];
    let found = this.guarded(own, (file) => file.read(number, count));
    if (found[0]?.record.number !== number) {
      found = this.guarded(this.days[0], (file) => file.read(number, 1));
    }
    return new Map(found.map((stored) => [stored.record.number, stored]));
  }

  /**
   * Those that are meant, newest first, over all days; none of those that `isOld` names. `limit` of
   * them are looked up at once.
   */
  *find(query: RowQuery, times: Times, isOld: IsOld): Generator<TaskRecord | Passed> {
    for (const day of this.days.toReversed()) {
      // A search may rest between two steps, and a day may be removed meanwhile.
      if (!this.has(day)) continue;
      const isOutside = startOf(day.name) >= times.until || endOf(day.name) <= times.since;
      if (isOutside && day.name !== KEPT) continue;
      const own = day.name === KEPT ? this.keptOf(query) : query;
      const within = this.guarded(day, (file) => narrow(file, own, times));
      if (within !== undefined) yield* this.findIn(day, within, isOld);
    }
  }

  private has({ name }: Day): boolean {
    return this.days.some((day) => day.name === name);
  }

  /** Without what its day still has: a crash may have come before that was removed. */
  private keptOf(query: RowQuery): RowQuery {
    const oldest = this.days.at(1)?.first ?? Number.POSITIVE_INFINITY;
    return { ...query, before: Math.min(query.before, oldest) };
  }

  /** Payloads may be large: they are read one by one, for whoever still wants them. */
  private *findIn(day: Day, query: RowQuery, isOld: IsOld): Generator<TaskRecord | Passed> {
    let { before } = query;
    const lowest = Math.max(query.from, day.first);
    while (before > lowest && this.has(day)) {
      const from = Math.max(lowest, this.partOf(day, query, before));
      const numbers = this.guarded(day, (file) => file.find({ ...query, from, before }));
      for (const number of numbers) {
        if (isOld(number) || !this.has(day)) continue;
        for (const { record } of this.guarded(day, (file) => file.read(number, 1))) {
          // A task that lost a tag is found by it still.
          if (query.tags === undefined || hasTags(record, query.tags)) yield record;
        }
      }
      before = numbers.length < query.limit ? from : numbers[numbers.length - 1];
      yield { passed: before };
    }
  }

  /** Where to stop looking for now: many rows may be passed that no index leaves out. */
  private partOf(day: Day, query: RowQuery, before: number): number {
    if (isCovered(query)) return 0;
    const last = this.guarded(day, (file) => file.last) ?? 0;
    return Math.min(before, last + 1) - ROWS_AT_ONCE;
  }

  /** Whether a task of any day names this blob. */
  names(blob: string): boolean {
    return this.days.some((day) => this.guarded(day, (file) => file.names(blob)));
  }

  /**
   * Removes what is too old or too much, in steps. What must not go moves to the file of what is
   * kept. Answers whether there may be more to do.
   */
  retain(now: number, { ageMs, bytesMax }: Retention): boolean {
    const isEnding = this.guarded(this.days[0], (file) => {
      return file.removeEnded(now - ageMs, RETAINED_AT_ONCE);
    });
    if (isEnding) return true;
    // The newest day is being written to.
    if (this.days.length <= 2) return false;
    const [, oldest] = this.days;
    if (endOf(oldest.name) + ageMs > now && this.usedBytes <= bytesMax) return false;
    if (!this.moveOpen(oldest)) {
      this.leaving = undefined;
      this.remove(oldest);
      this.notify({ type: 'day_removed', day: oldest.name });
    }
    return true;
  }

  /** Moves a part of what must outlive a day. Answers whether there is more of it. */
  private moveOpen(day: Day): boolean {
    const last = this.guarded(day, (file) => file.last);
    if (last === undefined) return false;
    if (this.leaving?.name !== day.name) {
      this.leaving = { name: day.name, next: day.first };
      // Copies of a move that a crash cut short: the rows of the day may have changed since.
      this.guarded(this.days[0], (file) => file.removeBetween(day.first, last));
    }
    const { next } = this.leaving;
    const rows = this.guarded(day, (file) => file.open(next, RETAINED_AT_ONCE));
    if (rows.length > 0) this.writeTo(this.days[0], rows);
    this.leaving.next = next + RETAINED_AT_ONCE;
    return this.leaving.next <= last;
  }

  close(): void {
    for (const { file } of this.days) file.close();
  }

  private writeTo(day: Day, records: readonly StoredRecord[]): void {
    this.guarded(day, (file) => file.write(records));
    const { leaving } = this;
    if (day.name === leaving?.name) {
      const moved = records.filter(({ record }) => record.number < leaving.next);
      if (moved.length > 0) this.writeTo(this.days[0], moved);
    }
    // A day that was set aside meanwhile has a successor of the same name.
    const written = this.days.find(({ name }) => name === day.name) ?? day;
    for (const { record } of records) written.first = Math.min(written.first, record.number);
  }

  private dayFor({ number, submittedAt }: { number: number; submittedAt: number }): Day {
    const name = nameOf(submittedAt);
    const known = this.days.find((day) => day.name === name);
    if (known !== undefined) return known;
    const newest = this.days.at(-1) as Day;
    // One of a day that was removed is with what was kept.
    if (number < newest.first && newest.name > name) return this.days[0];
    const day = this.openDay(name);
    this.days.push(day);
    this.days.sort((a, b) => (a.name < b.name ? -1 : 1));
    return day;
  }

  private openDay(name: string): Day {
    const open = (): Day => {
      const file = new DayFile(this.pathOf(name), {
        onLeftOut: (what, task, why) => {
          const type = what === 'row' ? 'row_set_aside' : 'record_left_out';
          this.notify({ type, day: name, task, why });
        },
        isShrinking: name === KEPT,
      });
      try {
        return { name, file, first: file.first ?? Number.POSITIVE_INFINITY };
      } catch (cause) {
        file.close();
        throw cause;
      }
    };
    try {
      return open();
    } catch (cause) {
      this.replace(name, cause);
      return open();
    }
  }

  /** A file that cannot be what was written is set aside, and an empty one takes its place. */
  private guarded<T>({ name }: Day, use: (file: DayFile) => T): T {
    // Whoever is in the midst of a file may hold one that was set aside meanwhile.
    const place = this.days.findIndex((day) => day.name === name);
    const { file } = this.days[place];
    try {
      return use(file);
    } catch (cause) {
      if (!isUnusable(cause)) throw cause;
      file.close();
      this.replace(name, cause);
      this.days[place] = this.openDay(name);
      return use(this.days[place].file);
    }
  }

  private replace(name: string, cause: unknown): void {
    if (!isUnusable(cause)) throw cause;
    const file = setAside(this.pathOf(name));
    this.notify({ type: 'day_set_aside', file, why: (cause as Error).message });
  }

  private remove(day: Day): void {
    day.file.close();
    this.days.splice(this.days.indexOf(day), 1);
    removeDatabase(this.pathOf(day.name));
  }

  private pathOf(name: string): string {
    return join(this.folder, `${name}.sqlite`);
  }
}

/** The same question by numbers alone; nothing when the file has no task of that time. */
function narrow(file: DayFile, query: RowQuery, { since, until }: Times): RowQuery | undefined {
  const from = since <= 0 ? query.from : file.firstSince(since);
  if (from === undefined) return undefined;
  const before = until === Number.POSITIVE_INFINITY ? undefined : file.firstSince(until);
  return {
    ...query,
    from: Math.max(from, query.from),
    before: Math.min(before ?? query.before, query.before),
  };
}
