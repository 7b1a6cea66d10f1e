import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { namespaceOf, TASK_STATES, type Tags, type TaskNumber, taskIdText } from '@sluice/core';
import {
  bytesOnDisk,
  openDatabase,
  removeDatabase,
  resultOf,
  setAside,
  syncFolder,
} from './database-file.ts';
import { DAY_NAME } from './day-names.ts';
import { FORM, READ, SHRINKING_FORM, UPSERT } from './day-schema.ts';
import { blobsNamedBy } from './named-blobs.ts';
import { searchOf, tagText } from './row-conditions.ts';
import { isOpen, type RowQuery } from './row-query.ts';
import {
  packRow,
  type StoredRecord,
  type StoredRow,
  unpackRow,
  type WrittenRecord,
} from './stored-row.ts';

const PARTITION = 0;

const NO_TAGS: readonly [string, string][] = [];

export interface DayOptions {
  /** Called for a row that cannot be read, or a record that cannot be written, and is left out. */
  readonly onLeftOut: (what: 'row' | 'record', task: string, why: string) => void;
  /** Rows are removed one by one, and their space is returned to the disk. */
  readonly isShrinking?: boolean;
}

/** The tasks that were submitted on one day, in a separate database. */
export class DayFile {
  readonly path: string;
  private readonly options: DayOptions;
  private readonly db: DatabaseSync;
  private readonly nameIds = new Map<string, number>();
  private readonly places = new Map<string, Place>();
  private readonly statements = new Map<string, StatementSync>();
  private readonly upsert: StatementSync;
  /** Rows that cannot be read and could not be moved away. */
  private readonly unreadable = new Set<number>();

  constructor(path: string, options: DayOptions) {
    this.path = path;
    this.options = options;
    this.db = openDatabase(path, options.isShrinking ? SHRINKING_FORM : FORM);
    this.upsert = this.db.prepare(UPSERT);
  }

  /** Number of the oldest task; undefined when there is none. */
  get first(): number | undefined {
    return this.range()?.low;
  }

  get last(): number | undefined {
    return this.range()?.high;
  }

  /** Bytes of the pages in use; removed rows do not count. */
  get usedBytes(): number {
    const pragma = (name: string): number => {
      return this.prepare(`PRAGMA ${name}`).get()?.[name] as number;
    };
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  /** Writes all or nothing, durably. Records that no row can hold are left out. */
  write(records: Iterable<StoredRecord<WrittenRecord>>): void {
    this.transact(() => {
      for (const stored of records) this.putOrLeaveOut(stored);
    });
  }

  /** The tasks with a number from `number` to below `number + count`. */
  read(number: number, count: number): StoredRecord[] {
    const statement = this.prepare(READ);
    try {
      return this.unpacked(statement.all(number, number + count));
    } catch (cause) {
      if (!isOfOneRow(cause)) throw cause;
      return this.readEach(number, count);
    }
  }

  /** One at a time, because a read costs little more than its row. */
  readFirst([number]: readonly number[]): FirstRecords {
    return { records: this.read(number, 1), count: 1 };
  }

  /** Reads row by row, so that one row that SQLite cannot read does not affect the others. */
  private readEach(number: number, count: number): StoredRecord[] {
    const numbers = this.prepare('SELECT number FROM tasks WHERE number >= ? AND number < ?');
    const found = numbers.all(number, number + count) as unknown as { number: number }[];
    return found.flatMap((row) => {
      try {
        return this.unpacked(this.prepare(READ).all(row.number, row.number + 1));
      } catch (cause) {
        if (!isOfOneRow(cause)) throw cause;
        this.setAside(row, cause as Error);
        return [];
      }
    });
  }

  /** Numbers of matching tasks, newest first. Some may have lost a tag since. */
  find(query: RowQuery): number[] {
    const { text, values } = searchOf(query, (name) => this.idOf(name));
    const rows = this.prepare(text).all(...values);
    return rows.map(({ number }) => number as number);
  }

  /** Whether a task here names this blob, or did before it was changed. */
  names(blob: string): boolean {
    return this.prepare('SELECT 1 FROM blobs WHERE blob = ? LIMIT 1').get(blob) !== undefined;
  }

  /** Records that must outlive the file, among `count` numbers from this one on. */
  open(number: number, count: number): StoredRecord[] {
    const text = 'SELECT number FROM tasks WHERE number >= ? AND number < ? AND is_open = 1';
    const rows = this.prepare(text).all(number, number + count);
    return rows.flatMap((row) => this.read(row.number as number, 1));
  }

  /** Removes every task from `low` to `high`. */
  removeBetween(low: number, high: number): void {
    const { changes } = this.prepare('DELETE FROM tasks WHERE number BETWEEN ? AND ?').run(
      low,
      high,
    );
    if (changes > 0) this.sweep();
  }

  /**
   * Removes up to `rowsMax` tasks that retention may remove and that ended before this time.
   * Returns whether there may be more to do.
   */
  removeEnded(before: number, rowsMax: number): boolean {
    const old = `SELECT number FROM tasks WHERE is_open = 0 AND ended_at < ? LIMIT ?`;
    const { changes } = this.prepare(`DELETE FROM tasks WHERE number IN (${old})`).run(
      before,
      rowsMax,
    );
    if (changes === 0) return this.shrink(rowsMax);
    if (Number(changes) < rowsMax) this.sweep();
    return true;
  }

  /** Returns up to `pagesMax` free pages to the disk. */
  private shrink(pagesMax: number): boolean {
    const free = this.prepare('PRAGMA freelist_count').get()?.freelist_count;
    if (free === 0) return false;
    this.db.exec(`PRAGMA incremental_vacuum(${pagesMax})`);
    if (free === this.prepare('PRAGMA freelist_count').get()?.freelist_count) return false;
    // The file shrinks only when the write-ahead log is merged into it.
    this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return true;
  }

  /** Removes tags and blob names of tasks that are gone. */
  private sweep(): void {
    for (const table of ['tags', 'blobs']) {
      this.db.exec(`DELETE FROM ${table} WHERE number NOT IN (SELECT number FROM tasks)`);
    }
  }

  /** The first task that was submitted at this time or later; undefined when there is none. */
  firstSince(time: number): number | undefined {
    const range = this.range();
    if (range === undefined) return undefined;
    let { low, high } = range;
    const next = this.prepare(
      'SELECT number, submitted_at AS at FROM tasks WHERE number >= ? ORDER BY number LIMIT 1',
    );
    let found: number | undefined;
    // Numbers and times increase together, so a binary search works.
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const row = next.get(middle) as { number: number; at: number };
      if (row.at >= time) {
        found = row.number;
        high = middle - 1;
      } else {
        low = row.number + 1;
      }
    }
    return found;
  }

  close(): void {
    this.db.close();
  }

  private range(): { low: number; high: number } | undefined {
    // Each query alone is one step in the tree. Both in one query would scan the whole tree.
    const low = this.prepare('SELECT MIN(number) AS low FROM tasks').get()?.low;
    const high = this.prepare('SELECT MAX(number) AS high FROM tasks').get()?.high;
    return typeof low === 'number' && typeof high === 'number' ? { low, high } : undefined;
  }

  private transact(work: () => void): void {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.db.exec('COMMIT');
    } catch (cause) {
      this.nameIds.clear();
      this.places.clear();
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw cause;
    }
  }

  private unpacked(rows: readonly unknown[]): StoredRecord[] {
    return (rows as StoredRow[]).flatMap((row) => {
      try {
        return [unpackRow(row)];
      } catch (cause) {
        this.setAside(row, cause as Error);
        return [];
      }
    });
  }

  /** Keeps the row in the file for inspection, where no search finds it. */
  private setAside({ number, submittedAt = 0 }: Partial<StoredRow>, why: Error): void {
    if (number === undefined || this.unreadable.has(number)) return;
    this.unreadable.add(number);
    this.options.onLeftOut('row', rowId(number, submittedAt), why.message);
    try {
      this.transact(() => {
        this.prepare('INSERT INTO unreadable SELECT * FROM tasks WHERE number = ?').run(number);
        this.prepare('DELETE FROM tasks WHERE number = ?').run(number);
      });
      this.unreadable.delete(number);
    } catch {
      // It was reported above, and every read skips the row.
    }
  }

  /**
   * A record that cannot be written would block all others, and the trimming of the log, forever.
   */
  private putOrLeaveOut(stored: StoredRecord<WrittenRecord>): void {
    try {
      this.put(stored);
    } catch (cause) {
      if (!isOfOneRow(cause)) throw cause;
      const { number, submittedAt } = stored.record;
      this.options.onLeftOut('record', rowId(number, submittedAt), (cause as Error).message);
    }
  }

  private put(stored: StoredRecord<WrittenRecord>): void {
    const { record } = stored;
    const row = packRow(stored);
    const { number, state } = record;
    const tags = record.tags === '' ? NO_TAGS : Object.entries(JSON.parse(record.tags) as Tags);
    const place = this.placeOf(record.queue);
    this.unreadable.delete(number);
    // One argument at a time: spreading lists costs half as much as the insert itself.
    this.upsert.run(
      number,
      place.queue,
      place.namespace,
      shownState(state),
      isOpen(record) ? 1 : 0,
      row.submittedAt,
      record.endedAt,
      row.position,
      row.checksum,
      row.parent,
      row.input,
      row.result,
      row.body,
    );
    for (const blob of blobsNamedBy(record)) {
      this.prepare('INSERT OR IGNORE INTO blobs VALUES (?, ?)').run(blob, number);
    }
    // Tags that a task has lost stay here; a search compares them with the record.
    const insert = this.prepare('INSERT OR IGNORE INTO tags VALUES (?, ?)');
    for (const [name, value] of tags) {
      insert.run(tagText(place.namespace, name, value), number);
    }
  }

  private placeOf(queue: string): Place {
    let place = this.places.get(queue);
    if (place === undefined) {
      place = { queue: this.nameId(queue), namespace: this.nameId(`${namespaceOf(queue)}/`) };
      this.places.set(queue, place);
    }
    return place;
  }

  /** -1, which no row has, for an unknown name. */
  private idOf(name: string): number {
    const known = this.nameIds.get(name);
    if (known !== undefined) return known;
    const row = this.prepare('SELECT id FROM names WHERE name = ?').get(name);
    if (row === undefined) return -1;
    const id = row.id as number;
    this.nameIds.set(name, id);
    return id;
  }

  private nameId(name: string): number {
    const known = this.idOf(name);
    if (known >= 0) return known;
    const { lastInsertRowid } = this.prepare('INSERT INTO names (name) VALUES (?)').run(name);
    this.nameIds.set(name, Number(lastInsertRowid));
    return Number(lastInsertRowid);
  }

  private prepare(text: string): StatementSync {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.db.prepare(text);
      this.statements.set(text, statement);
    }
    return statement;
  }
}

/** Records of the first of some numbers. */
export interface FirstRecords {
  readonly records: readonly StoredRecord[];
  /** How many of the numbers that were; some may have no record. */
  readonly count: number;
}

/** Days as files of one folder. */
export class DayFolder {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    syncFolder(dirname(folder));
  }

  list(): string[] {
    return readdirSync(this.folder).flatMap((name) => DAY_NAME.exec(name)?.[1] ?? []);
  }

  open(name: string, options: DayOptions): DayFile {
    return new DayFile(this.pathOf(name), options);
  }

  bytesOf(name: string): number {
    return bytesOnDisk(this.pathOf(name));
  }

  remove(name: string): void {
    removeDatabase(this.pathOf(name));
  }

  setAside(name: string, cause: unknown): string {
    return setAside(this.pathOf(name), cause);
  }

  private pathOf(name: string): string {
    return join(this.folder, `${name}.sqlite`);
  }
}

/** A queue and its namespace, as ids of their names. */
interface Place {
  readonly queue: number;
  readonly namespace: number;
}

/**
 * SQLite's result codes for a value that a row cannot hold: too big, a constraint, a wrong type.
 */
const REFUSED_VALUES = [18, 19, 20];

/** Whether the error is about one row or record, and not about the file or the disk. */
function isOfOneRow(cause: unknown): boolean {
  const result = resultOf(cause);
  return result === undefined || REFUSED_VALUES.includes(result);
}

export function rowId(number: number, submittedAt: number): string {
  try {
    return taskIdText({ submittedAt, partition: PARTITION, number: number as TaskNumber });
  } catch {
    // A damaged row may have a time that no id can hold.
    return `number ${number}`;
  }
}

function shownState(state: number): number {
  return TASK_STATES.indexOf(TASK_STATES[state]);
}
