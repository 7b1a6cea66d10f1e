import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { namespaceOf, TASK_STATES, type Tags, type TaskNumber, taskIdText } from '@sluice/core';
import { openDatabase, resultOf } from './database-file.ts';
import { FORM, READ, SHRINKING_FORM, UPSERT } from './day-schema.ts';
import { searchOf, tagText } from './row-conditions.ts';
import { isOpen, type RowQuery } from './row-query.ts';
import { packRow, type StoredRecord, type StoredRow, unpackRow } from './stored-row.ts';
import { blobsNamedBy } from './task-record.ts';

const PARTITION = 0;

export interface DayFileOptions {
  /** What a task cannot be read from, or written to, is left out. */
  readonly onLeftOut: (what: 'row' | 'record', task: string, why: string) => void;
  /** Rows are removed one by one, and what they took is given back to the disk. */
  readonly isShrinking?: boolean;
}

/** The tasks that were submitted on one day, in a database of its own. */
export class DayFile {
  readonly path: string;
  private readonly options: DayFileOptions;
  private readonly db: DatabaseSync;
  private readonly nameIds = new Map<string, number>();
  private readonly places = new Map<string, Place>();
  private readonly statements = new Map<string, StatementSync>();
  private readonly upsert: StatementSync;
  /** Rows that cannot be read, and could not be moved away. */
  private readonly unreadable = new Set<number>();

  constructor(path: string, options: DayFileOptions) {
    this.path = path;
    this.options = options;
    this.db = openDatabase(path, options.isShrinking ? SHRINKING_FORM : FORM);
    this.upsert = this.db.prepare(UPSERT);
  }

  /** The numbers of the oldest and the newest task, and nothing when there is none. */
  get first(): number | undefined {
    return this.range()?.low;
  }

  get last(): number | undefined {
    return this.range()?.high;
  }

  /** Of its pages that are in use: what was removed counts no more. */
  get usedBytes(): number {
    const pragma = (name: string): number => {
      return this.prepare(`PRAGMA ${name}`).get()?.[name] as number;
    };
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  /** Writes all or nothing, durably, but for records that no row can hold. */
  write(records: Iterable<StoredRecord>): void {
    this.transact(() => {
      for (const stored of records) this.putOrLeaveOut(stored);
    });
  }

  /** The task with that number and those behind it, as many as there are of `count` numbers. */
  read(number: number, count: number): StoredRecord[] {
    const statement = this.prepare(READ);
    try {
      return this.unpacked(statement.all(number, number + count));
    } catch (cause) {
      if (!isOfOneRow(cause)) throw cause;
      return this.readEach(number, count);
    }
  }

  /** One that not even SQLite can hand out must not take the others with it. */
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

  /** The numbers of those that are meant, newest first; some may have lost a tag meanwhile. */
  find(query: RowQuery): number[] {
    const { text, values } = searchOf(query, (name) => this.idOf(name));
    const rows = this.prepare(text).all(...values);
    return rows.map(({ number }) => number as number);
  }

  /** Whether a task here names this blob, or did before it was changed. */
  names(blob: string): boolean {
    return this.prepare('SELECT 1 FROM blobs WHERE blob = ? LIMIT 1').get(blob) !== undefined;
  }

  /** What must outlive the file, of `count` numbers from this one on. */
  open(number: number, count: number): StoredRecord[] {
    const text = 'SELECT number FROM tasks WHERE number >= ? AND number < ? AND is_open = 1';
    const rows = this.prepare(text).all(number, number + count);
    return rows.flatMap((row) => this.read(row.number as number, 1));
  }

  /** Removes every task from this number to that one. */
  removeBetween(low: number, high: number): void {
    const { changes } = this.prepare('DELETE FROM tasks WHERE number BETWEEN ? AND ?').run(
      low,
      high,
    );
    if (changes > 0) this.sweep();
  }

  /**
   * Removes tasks that retention may take and that ended before this time, up to `rowsMax`. Answers
   * whether there may be more to do.
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

  /** Gives up to so many free pages back to the disk. */
  private shrink(pagesMax: number): boolean {
    const free = this.prepare('PRAGMA freelist_count').get()?.freelist_count;
    if (free === 0) return false;
    this.db.exec(`PRAGMA incremental_vacuum(${pagesMax})`);
    if (free === this.prepare('PRAGMA freelist_count').get()?.freelist_count) return false;
    // The file itself becomes smaller when what was written beside it is taken into it.
    this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return true;
  }

  /** Removes what names tasks that are not here any more. */
  private sweep(): void {
    for (const table of ['tags', 'blobs']) {
      this.db.exec(`DELETE FROM ${table} WHERE number NOT IN (SELECT number FROM tasks)`);
    }
  }

  /** The first task that was submitted at this time or later; nothing when all were before it. */
  firstSince(time: number): number | undefined {
    const range = this.range();
    if (range === undefined) return undefined;
    let { low, high } = range;
    const next = this.prepare(
      'SELECT number, submitted_at AS at FROM tasks WHERE number >= ? ORDER BY number LIMIT 1',
    );
    let found: number | undefined;
    // Numbers and times rise together, so the place can be halved.
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
    // Each by itself is a step in the tree, together they would be a walk through all of it.
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

  /** The row is kept for whoever looks into the file, and found by nobody else. */
  private setAside({ number, submittedAt = 0 }: Partial<StoredRow>, why: Error): void {
    if (number === undefined || this.unreadable.has(number)) return;
    this.unreadable.add(number);
    this.options.onLeftOut('row', idOf(number, submittedAt), why.message);
    try {
      this.transact(() => {
        this.prepare('INSERT INTO unreadable SELECT * FROM tasks WHERE number = ?').run(number);
        this.prepare('DELETE FROM tasks WHERE number = ?').run(number);
      });
      this.unreadable.delete(number);
    } catch {
      // It was said above, and the row is passed over wherever it is read.
    }
  }

  /** One that cannot be written would hold up all others, and with them the log, for ever. */
  private putOrLeaveOut(stored: StoredRecord): void {
    try {
      this.put(stored);
    } catch (cause) {
      if (!isOfOneRow(cause)) throw cause;
      const { number, submittedAt } = stored.record;
      this.options.onLeftOut('record', idOf(number, submittedAt), (cause as Error).message);
    }
  }

  private put(stored: StoredRecord): void {
    const { record } = stored;
    const row = packRow(stored);
    const { number, state } = record;
    const tags = Object.entries(record.tags === '' ? {} : (JSON.parse(record.tags) as Tags));
    const place = this.placeOf(record.queue);
    this.unreadable.delete(number);
    // One by one: lists that are spread cost half as much as the insert itself.
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
    // Tags that a task has lost stay here: whoever looks compares with the record.
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

  /** -1, which nothing has, for a name that is not here. */
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

/** A queue and its namespace, as the numbers of their names. */
interface Place {
  readonly queue: number;
  readonly namespace: number;
}

/** SQLite's words for a value that a row cannot hold: too big, a constraint, another type. */
const REFUSED_VALUES = [18, 19, 20];

/** Whether it is about one row or record, and says nothing of the file or the disk. */
function isOfOneRow(cause: unknown): boolean {
  const result = resultOf(cause);
  return result === undefined || REFUSED_VALUES.includes(result);
}

function idOf(number: number, submittedAt: number): string {
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
