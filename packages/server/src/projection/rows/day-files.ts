import { isUnusable, OtherSchemaError } from './database-file.ts';
import type { DayFile, DayOptions } from './day-file.ts';
import { endOf, KEPT, nameOf, startOf } from './day-names.ts';
import { isCovered } from './row-conditions.ts';
import { hasTags, type RowQuery, type Times } from './row-query.ts';
import type { AnyRecord, StoredRecord, WrittenRecord } from './stored-row.ts';

/** A row or record is left out of search and history from here on. */
interface LeftOut {
  readonly day: string;
  /** Id of the task. */
  readonly task: string;
  readonly why: string;
}

export type FileNotice =
  | {
      readonly type: 'day_set_aside' | 'day_of_other_version';
      readonly file: string;
      readonly why: string;
    }
  | ({ readonly type: 'row_set_aside' } & LeftOut)
  | ({ readonly type: 'record_left_out' } & LeftOut)
  | { readonly type: 'day_removed'; readonly day: string };

export interface Retention {
  /** Days whose last task is older than this are removed. */
  readonly ageMs: number;
  /** The oldest days are removed while all days together are larger than this. */
  readonly bytesMax: number;
}

/** Maximum number of rows that one step scans when no index helps. */
const ROWS_AT_ONCE = 10_000;

/** Maximum number of rows that one step of retention removes, or scans to move them. */
const RETAINED_AT_ONCE = 1000;

/** No match is left above this number; a search may stop here. */
export interface Passed {
  readonly passed: number;
}

/** The rows of one day, wherever they are. */
export type DayTable = Pick<
  DayFile,
  | 'first'
  | 'last'
  | 'usedBytes'
  | 'write'
  | 'read'
  | 'readFirst'
  | 'find'
  | 'names'
  | 'open'
  | 'removeBetween'
  | 'removeEnded'
  | 'firstSince'
  | 'close'
>;

/** Where the days are. */
export interface DayStorage {
  /** Names of the days that exist. */
  list(): string[];
  /** Opens a day, which is made if it does not exist. */
  open(name: string, options: DayOptions): DayTable;
  /** Room that a day takes. */
  bytesOf(name: string): number;
  remove(name: string): void;
  /** Puts a day that cannot be used where no search finds it. Returns that place. */
  setAside(name: string, cause: unknown): string;
}

/** Whether memory has something newer of a task than its row. */
type IsOld = (number: number) => boolean;

interface Day {
  readonly name: string;
  readonly file: DayTable;
  /** Number of its oldest task; infinite while it has none. */
  first: number;
}

/**
 * The database files of the projection: one per day of submits, and one for tasks that outlive
 * their day.
 *
 * A task is found by its number alone, because numbers and days increase together.
 */
export class DayFiles {
  private readonly storage: DayStorage;
  private readonly notify: (notice: FileNotice) => void;
  /** Oldest first; the file of kept tasks comes first. */
  private readonly days: Day[] = [];
  /** The day being removed; tasks that outlive it are moved in steps. */
  private leaving: { readonly name: string; next: number } | undefined;

  constructor(storage: DayStorage, notify: (notice: FileNotice) => void) {
    this.storage = storage;
    this.notify = notify;
    for (const name of [KEPT, ...storage.list().sort()]) this.days.push(this.openDay(name));
  }

  /** Size of the files on the disk. */
  get bytes(): number {
    return this.days.reduce((sum, { name }) => sum + this.storage.bytesOf(name), 0);
  }

  /** Bytes of the rows. Free pages and the write-ahead log do not count. */
  private get usedBytes(): number {
    return this.days.reduce((sum, day) => sum + this.guarded(day, (file) => file.usedBytes), 0);
  }

  /** Number of the newest task; 0 when there is none. */
  get newest(): number {
    return this.days.reduce((newest, { file }) => Math.max(newest, file.last ?? 0), 0);
  }

  /** Writes records durably; those of one day all or none. */
  write(records: readonly StoredRecord<WrittenRecord>[]): void {
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
   * Matching tasks, newest first, over all days, except those for which `isOld` is true. `limit` of
   * them are looked up at once.
   */
  *find(query: RowQuery, times: Times, isOld: IsOld): Generator<AnyRecord | Passed> {
    for (const day of this.days.toReversed()) {
      // A search may pause between two steps, and a day may be removed meanwhile.
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

  /**
   * Excludes tasks that are still in their day's file: a crash may have prevented their removal.
   */
  private keptOf(query: RowQuery): RowQuery {
    const oldest = this.days.at(1)?.first ?? Number.POSITIVE_INFINITY;
    return { ...query, before: Math.min(query.before, oldest) };
  }

  /** Payloads may be large, so records are read on demand. */
  private *findIn(day: Day, query: RowQuery, isOld: IsOld): Generator<AnyRecord | Passed> {
    let { before } = query;
    const lowest = Math.max(query.from, day.first);
    while (before > lowest && this.has(day)) {
      const from = Math.max(lowest, this.partOf(day, query, before));
      const numbers = this.guarded(day, (file) => file.find({ ...query, from, before }));
      let left = numbers.filter((number) => !isOld(number));
      while (left.length > 0 && this.has(day)) {
        const { records, count } = this.guarded(day, (file) => file.readFirst(left));
        left = left.slice(count);
        for (const { record } of records) {
          // The index still finds a task by a tag that it has lost.
          const isMeant = query.tags === undefined || hasTags(record, query.tags);
          if (isMeant && !isOld(record.number)) yield record;
        }
      }
      before = numbers.length < query.limit ? from : numbers[numbers.length - 1];
      yield { passed: before };
    }
  }

  /** Where to stop for now: without a covering index, many rows without a match may be scanned. */
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
   * Removes tasks that are too old or too many, in steps. Tasks that must stay move to the file of
   * kept tasks. Returns whether there may be more to do.
   */
  retain(now: number, { ageMs, bytesMax }: Retention): boolean {
    const isEnding = this.guarded(this.days[0], (file) => {
      return file.removeEnded(now - ageMs, RETAINED_AT_ONCE);
    });
    if (isEnding) return true;
    // The newest day is still being written.
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

  /** Moves some of the tasks that must outlive a day. Returns whether there are more. */
  private moveOpen(day: Day): boolean {
    const last = this.guarded(day, (file) => file.last);
    if (last === undefined) return false;
    if (this.leaving?.name !== day.name) {
      this.leaving = { name: day.name, next: day.first };
      // Removes copies of a move that a crash interrupted: the rows of the day may have changed
      // since.
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

  private writeTo(day: Day, records: readonly StoredRecord<WrittenRecord>[]): void {
    this.guarded(day, (file) => file.write(records));
    const { leaving } = this;
    if (day.name === leaving?.name) {
      const moved = records.filter(({ record }) => record.number < leaving.next);
      if (moved.length > 0) this.writeTo(this.days[0], moved);
    }
    // A day that was set aside meanwhile has a successor with the same name.
    const written = this.days.find(({ name }) => name === day.name) ?? day;
    for (const { record } of records) written.first = Math.min(written.first, record.number);
  }

  private dayFor({ number, submittedAt }: { number: number; submittedAt: number }): Day {
    const name = nameOf(submittedAt);
    const known = this.days.find((day) => day.name === name);
    if (known !== undefined) return known;
    const newest = this.days.at(-1) as Day;
    // A task of a removed day is in the file of kept tasks.
    if (number < newest.first && newest.name > name) return this.days[0];
    const day = this.openDay(name);
    this.days.push(day);
    this.days.sort((a, b) => (a.name < b.name ? -1 : 1));
    return day;
  }

  private openDay(name: string): Day {
    const open = (): Day => {
      const file = this.storage.open(name, {
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

  /** Runs `use` on a day's file. A damaged file is set aside, and an empty one replaces it. */
  private guarded<T>({ name }: Day, use: (file: DayTable) => T): T {
    // The caller may hold a file that was set aside meanwhile.
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
    const file = this.storage.setAside(name, cause);
    const isOther = cause instanceof OtherSchemaError;
    const type = isOther ? 'day_of_other_version' : 'day_set_aside';
    this.notify({ type, file, why: (cause as Error).message });
  }

  private remove(day: Day): void {
    day.file.close();
    this.days.splice(this.days.indexOf(day), 1);
    this.storage.remove(day.name);
  }
}

/** The same query by numbers only; undefined when the file has no task of that time. */
function narrow(file: DayTable, query: RowQuery, { since, until }: Times): RowQuery | undefined {
  const from = since <= 0 ? query.from : file.firstSince(since);
  if (from === undefined) return undefined;
  const before = until === Number.POSITIVE_INFINITY ? undefined : file.firstSince(until);
  return {
    ...query,
    from: Math.max(from, query.from),
    before: Math.min(before ?? query.before, query.before),
  };
}
