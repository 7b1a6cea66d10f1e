import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { namespaceOf, SUCCEEDED, TASK_STATES, type Tags } from '@sluice/core';
import { ENDED_AT_PATH, packBody, unpackRecord } from './record-row.ts';
import { isOpen, type RowQuery, stateNumber } from './row-query.ts';
import { blobsNamedBy, type TaskRecord } from './task-record.ts';

/**
 * Most tasks succeed in the end: an index of them by state would cost every one of them, and who
 * looks for them finds them among all as fast.
 */
const IS_RARE = `state <> ${SUCCEEDED}`;

/**
 * The index columns are for search; payloads stand by themselves so that text in them can be looked
 * for; all else of a record is one text. `position` says how much of the log the row has seen, so
 * that what is read again after a crash is not applied twice. `is_open` is 1 for what retention
 * must not take: tasks that have not ended, and dead letters.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    state INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    submitted_at INTEGER NOT NULL,
    position INTEGER NOT NULL,
    parent TEXT NOT NULL,
    input TEXT NOT NULL,
    result TEXT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS by_queue ON tasks (queue, number);
  CREATE INDEX IF NOT EXISTS by_state ON tasks (namespace, state, number) WHERE ${IS_RARE};
  CREATE INDEX IF NOT EXISTS by_queue_state ON tasks (queue, state, number) WHERE ${IS_RARE};
  CREATE INDEX IF NOT EXISTS by_parent ON tasks (parent, number) WHERE parent <> '';
  CREATE TABLE IF NOT EXISTS tags (
    tag TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (tag, number)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blobs (
    blob TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (blob, number)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
`;

const UPSERT = `
  INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (number) DO UPDATE SET
    state = excluded.state, is_open = excluded.is_open, position = excluded.position,
    input = excluded.input, result = excluded.result, body = excluded.body`;

const COLUMNS = `
  number, (SELECT name FROM names WHERE id = queue) AS queue, submitted_at AS submittedAt,
  position, parent, input, result, body`;

const READ = `SELECT ${COLUMNS} FROM tasks WHERE number >= ? AND number < ?`;

/** A record, and how much of the log it has seen. */
export interface StoredRecord {
  readonly record: TaskRecord;
  readonly position: number;
}

/** The tasks that were submitted on one day, in a database of its own. */
export class DayFile {
  readonly path: string;
  private readonly db: DatabaseSync;
  private readonly nameIds = new Map<string, number>();
  private readonly places = new Map<string, Place>();
  private readonly statements = new Map<string, StatementSync>();
  private readonly upsert: StatementSync;

  constructor(path: string) {
    this.path = path;
    this.db = new DatabaseSync(path);
    try {
      // FULL: what is acknowledged is on the disk, or the log could be trimmed too early (L2).
      this.db.exec(`
        PRAGMA page_size = 8192;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA cache_size = -16384;
        PRAGMA busy_timeout = 0;
      `);
      this.db.exec(SCHEMA);
      this.upsert = this.db.prepare(UPSERT);
    } catch (cause) {
      this.db.close();
      throw cause;
    }
  }

  /** The numbers of the oldest and the newest task, and nothing when there is none. */
  get first(): number | undefined {
    return this.range()?.low;
  }

  get last(): number | undefined {
    return this.range()?.high;
  }

  /** Writes all or nothing, durably. */
  write(records: Iterable<StoredRecord>): void {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      for (const record of records) this.put(record);
      this.db.exec('COMMIT');
    } catch (cause) {
      this.nameIds.clear();
      this.places.clear();
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw cause;
    }
  }

  /** The task with that number and those behind it, as many as there are of `count` numbers. */
  read(number: number, count: number): StoredRecord[] {
    const rows = this.prepare(READ).all(number, number + count);
    return rows.map((row) => storedOf(row as unknown as Row));
  }

  /** The numbers of those that are meant, newest first; some may have lost a tag meanwhile. */
  find(query: RowQuery): number[] {
    const { where, values } = this.conditions(query);
    const text = `SELECT number FROM tasks WHERE ${where} ORDER BY number DESC LIMIT ?`;
    const rows = this.prepare(text).all(...values, query.limit);
    return rows.map(({ number }) => number as number);
  }

  /** Whether a task here names this blob, or did before it was changed. */
  names(blob: string): boolean {
    return this.prepare('SELECT 1 FROM blobs WHERE blob = ? LIMIT 1').get(blob) !== undefined;
  }

  /** What must outlive the file. */
  *open(): Generator<StoredRecord> {
    const statement = this.db.prepare(`SELECT ${COLUMNS} FROM tasks WHERE is_open = 1`);
    for (const row of statement.iterate()) yield storedOf(row as unknown as Row);
  }

  /** Removes what must not be kept any longer and ended before this time. */
  removeEnded(before: number): void {
    // The time is in the body: only the few tasks that outlived their day are looked at like this.
    const isOver = `is_open = 0 AND json_extract(body, '${ENDED_AT_PATH}') < ?`;
    const { changes } = this.prepare(`DELETE FROM tasks WHERE ${isOver}`).run(before);
    if (changes === 0) return;
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

  private put({ record, position }: StoredRecord): void {
    const { number, queue, state, submittedAt, parent, input, result, tags } = record;
    const place = this.placeOf(queue);
    const open = isOpen(record) ? 1 : 0;
    const body = packBody(record);
    // One by one: lists that are spread cost half as much as the insert itself.
    this.upsert.run(
      number,
      place.queue,
      place.namespace,
      shownState(state),
      open,
      submittedAt,
      position,
      parent,
      input,
      result,
      body,
    );
    for (const blob of blobsNamedBy(record)) {
      this.prepare('INSERT OR IGNORE INTO blobs VALUES (?, ?)').run(blob, number);
    }
    if (tags === '') return;
    // Tags that a task has lost stay here: whoever looks compares with the record.
    const insert = this.prepare('INSERT OR IGNORE INTO tags VALUES (?, ?)');
    for (const [name, value] of Object.entries(JSON.parse(tags) as Tags)) {
      insert.run(tagText(name, value), number);
    }
  }

  private conditions(query: RowQuery) {
    const { namespace, queue, state, parent, tags, text } = query;
    const conditions = ['number < ?', 'number >= ?', 'namespace = ?'];
    const values: SQLInputValue[] = [query.before, query.from, this.idOf(`${namespace}/`)];
    const also = (condition: string, ...more: SQLInputValue[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (queue !== undefined) also('queue = ?', this.idOf(queue));
    if (state !== undefined) also('state = ?', stateNumber(state));
    // Said as the index says it: SQLite does not conclude it, and would look at every row.
    if (state !== undefined && state !== TASK_STATES[SUCCEEDED]) also(IS_RARE);
    if (query.isOpen !== undefined) also('is_open = 1');
    if (parent !== undefined) also(`parent = ? AND parent <> ''`, parent);
    for (const [name, value] of Object.entries(tags ?? {})) {
      also('number IN (SELECT number FROM tags WHERE tag = ?)', tagText(name, value));
    }
    if (text !== undefined) also('(instr(input, ?) OR instr(result, ?))', text, text);
    return { where: conditions.join(' AND '), values };
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

interface Row {
  readonly number: number;
  readonly queue: string;
  readonly submittedAt: number;
  readonly position: number;
  readonly parent: string;
  readonly input: string;
  readonly result: string;
  readonly body: string;
}

function storedOf(row: Row): StoredRecord {
  return { record: unpackRecord(row), position: row.position };
}

function shownState(state: number): number {
  return TASK_STATES.indexOf(TASK_STATES[state]);
}

function tagText(name: string, value: string): string {
  return JSON.stringify([name, value]);
}
