import { existsSync, mkdirSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DayFile, type StoredRecord } from './day-file.ts';
import { hasTags, type RowQuery, type Times } from './row-query.ts';
import type { TaskRecord } from './task-record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Where they are in the folder of the projection. */
export const DAYS_FOLDER = 'days';

const DAY_NAME = /^(\d{4}-\d\d-\d\d)\.sqlite$/;

/** What SQLite keeps beside a file while it is open. */
const COMPANIONS = ['', '-wal', '-shm'];

/** The name of the file that holds what outlived its day. It sorts before every day. */
const KEPT = '0000-kept';

/** Result codes of SQLite: what is in the file cannot be what was written. */
const CORRUPT = [11, 26];

export type FileNotice =
  | { readonly type: 'day_set_aside'; readonly day: string; readonly why: string }
  | { readonly type: 'day_removed'; readonly day: string };

export interface Retention {
  /** Days whose last task is older than this are removed. */
  readonly ageMs: number;
  /** The oldest days are removed while all together are larger than this. */
  readonly bytesMax: number;
}

/** So many rows are looked at in one go when no index helps. */
const ROWS_AT_ONCE = 10_000;

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

  constructor(folder: string, notify: (notice: FileNotice) => void) {
    this.folder = folder;
    this.notify = notify;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder).flatMap((name) => DAY_NAME.exec(name)?.[1] ?? []);
    for (const name of [KEPT, ...names.sort()]) this.days.push(this.openDay(name));
  }

  get bytes(): number {
    return this.days.reduce((sum, { name }) => sum + this.bytesOf(name), 0);
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
      const isOutside = startOf(day.name) >= times.until || endOf(day.name) <= times.since;
      if (isOutside && day.name !== KEPT) continue;
      const own = day.name === KEPT ? this.keptOf(query) : query;
      const within = this.guarded(day, (file) => narrow(file, own, times));
      if (within !== undefined) yield* this.findIn(day, within, isOld);
    }
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
    while (before > lowest) {
      const from = Math.max(lowest, this.partOf(day, query, before));
      const numbers = this.guarded(day, (file) => file.find({ ...query, from, before }));
      for (const number of numbers) {
        if (isOld(number)) continue;
        for (const { record } of this.guarded(day, (file) => file.read(number, 1))) {
          // A task that lost a tag is found by it still.
          if (query.tags === undefined || hasTags(record, query.tags)) yield record;
        }
      }
      before = numbers.length < query.limit ? from : numbers[numbers.length - 1];
      yield { passed: before };
    }
  }

  /** Where to stop looking for now: no index has texts, so every row is looked at. */
  private partOf(day: Day, { text }: RowQuery, before: number): number {
    if (text === undefined) return 0;
    const last = this.guarded(day, (file) => file.last) ?? 0;
    return Math.min(before, last + 1) - ROWS_AT_ONCE;
  }

  /** Whether a task of any day names this blob. */
  names(blob: string): boolean {
    return this.days.some((day) => this.guarded(day, (file) => file.names(blob)));
  }

  /** Removes what is too old or too much. What must not go moves to the file of what is kept. */
  retain(now: number, { ageMs, bytesMax }: Retention): void {
    const kept = this.days[0];
    this.guarded(kept, (file) => file.removeEnded(now - ageMs));
    // The newest day is being written to.
    while (this.days.length > 2) {
      const [, oldest] = this.days;
      if (endOf(oldest.name) + ageMs > now && this.bytes <= bytesMax) return;
      const rows = this.guarded(oldest, (file) => [...file.open()]);
      if (rows.length > 0) this.writeTo(kept, rows);
      this.remove(oldest);
      this.notify({ type: 'day_removed', day: oldest.name });
    }
  }

  close(): void {
    for (const { file } of this.days) file.close();
  }

  private writeTo(day: Day, records: readonly StoredRecord[]): void {
    this.guarded(day, (file) => file.write(records));
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
      const file = new DayFile(this.pathOf(name));
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
      if (!isCorrupt(cause)) throw cause;
      this.setAside(name, cause as Error);
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
      if (!isCorrupt(cause)) throw cause;
      file.close();
      this.setAside(name, cause as Error);
      this.days[place] = this.openDay(name);
      return use(this.days[place].file);
    }
  }

  private setAside(name: string, cause: Error): void {
    const path = this.pathOf(name);
    let aside = `${path}.corrupt`;
    for (let n = 2; existsSync(aside); n++) aside = `${path}.corrupt-${n}`;
    for (const companion of COMPANIONS) {
      if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
    }
    this.notify({ type: 'day_set_aside', day: name, why: cause.message });
  }

  private remove(day: Day): void {
    day.file.close();
    this.days.splice(this.days.indexOf(day), 1);
    for (const companion of COMPANIONS) {
      const path = this.pathOf(day.name) + companion;
      if (existsSync(path)) unlinkSync(path);
    }
  }

  private bytesOf(name: string): number {
    return COMPANIONS.reduce((sum, companion) => {
      const stats = statSync(this.pathOf(name) + companion, { throwIfNoEntry: false });
      return sum + (stats?.size ?? 0);
    }, 0);
  }

  private pathOf(name: string): string {
    return join(this.folder, `${name}.sqlite`);
  }
}

/**
 * The files below the folder of the projection, in the order in which they can be copied while rows
 * are written: what outlives its day moves to the one that is last, and is missed in neither.
 */
export function filesToCopy(folder: string): string[] {
  const names = readdirSync(join(folder, DAYS_FOLDER));
  const days = names.filter((name) => DAY_NAME.test(name)).sort();
  return [...days, `${KEPT}.sqlite`].map((name) => `${DAYS_FOLDER}/${name}`);
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

function isCorrupt(cause: unknown): boolean {
  const { errcode } = cause as { errcode?: number };
  // The lowest byte is the result, the others say more about it.
  return errcode !== undefined && CORRUPT.includes(errcode & 0xff);
}

/** The day that was asked for last: of many tasks it is the same. */
let namedDay = Number.NaN;
let dayName = '';

function nameOf(time: number): string {
  const day = Math.floor(time / DAY_MS);
  if (day !== namedDay) {
    dayName = new Date(time).toISOString().slice(0, 10);
    namedDay = day;
  }
  return dayName;
}

function startOf(name: string): number {
  return name === KEPT ? 0 : Date.parse(`${name}T00:00:00.000Z`);
}

function endOf(name: string): number {
  return startOf(name) + DAY_MS;
}
