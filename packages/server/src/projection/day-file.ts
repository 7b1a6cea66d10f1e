import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { isTerminal, namespaceOf, TASK_STATES, type Tags } from '@sluice/core';
import { packBody, unpackRecord } from './record-row.ts';
import type { TaskRecord } from './task-record.ts';

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
  CREATE INDEX IF NOT EXISTS by_queue ON tasks (queue, state, number);
  CREATE INDEX IF NOT EXISTS by_state ON tasks (namespace, state, number);
  CREATE INDEX IF NOT EXISTS by_parent ON tasks (parent, number) WHERE parent <> '';
  CREATE TABLE IF NOT EXISTS tags (
    tag TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (tag, number)
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

/** A record, and how much of the log it has seen. */
export interface StoredRecord {
  readonly record: TaskRecord;
  readonly position: number;
}

/** What is looked for; all of it must hold. */
export interface RowQuery {
  readonly namespace: string;
  /** Numbers below this, newest first. */
  readonly before: number;
  /** Numbers from this on. */
  readonly from: number;
  readonly limit: number;
  /** Key of a queue. */
  readonly queue?: string;
  /** Name of a state. */
  readonly state?: string;
  readonly tags?: Tags;
  readonly parent?: string;
  /** In the input, or in the output or error. */
  readonly text?: string;
}

/** States that share a name count as the first of them. */
const STATES = [...new Set(TASK_STATES.map((name) => TASK_STATES.indexOf(name)))];

/** The tasks that were submitted on one day, in a database of its own. */
export class DayFile {
  readonly path: string;
  private readonly db: DatabaseSync;
  private readonly names = new Map<string, number>();
  private readonly statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();

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
      this.names.clear();
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw cause;
    }
  }

  read(number: number): StoredRecord | undefined {
    const row = this.prepare(`SELECT ${COLUMNS} FROM tasks WHERE number = ?`).get(number);
    return row === undefined ? undefined : storedOf(row as unknown as Row);
  }

  /** The numbers of those that are meant, newest first; some may have lost a tag meanwhile. */
  find(query: RowQuery): number[] {
    // An index has the states of a queue one after the other: each is asked for by itself.
    const states = query.state === undefined ? STATES : [stateNumber(query.state)];
    const isByQueue = query.queue !== undefined && query.tags === undefined;
    if (!isByQueue || query.parent !== undefined) return this.select(query, undefined);
    const numbers = states.flatMap((state) => this.select(query, state));
    return numbers.sort((a, b) => b - a).slice(0, query.limit);
  }

  /** What must outlive the file. */
  *open(): Generator<StoredRecord> {
    const statement = this.db.prepare(`SELECT ${COLUMNS} FROM tasks WHERE is_open = 1`);
    for (const row of statement.iterate()) yield storedOf(row as unknown as Row);
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
    this.prepare(UPSERT).run(
      ...[number, this.nameId(queue), this.nameId(`${namespaceOf(queue)}/`), shownState(state)],
      ...[isOpen(record) ? 1 : 0, submittedAt, position, parent, input, result, packBody(record)],
    );
    if (tags === '') return;
    // Tags that a task has lost stay here: whoever looks compares with the record.
    const insert = this.prepare('INSERT OR IGNORE INTO tags VALUES (?, ?)');
    for (const [name, value] of Object.entries(JSON.parse(tags) as Tags)) {
      insert.run(tagText(name, value), number);
    }
  }

  private select(query: RowQuery, state: number | undefined): number[] {
    const { where, values } = this.conditions(query, state);
    const text = `SELECT number FROM tasks WHERE ${where} ORDER BY number DESC LIMIT ?`;
    const rows = this.prepare(text).all(...values, query.limit);
    return rows.map(({ number }) => number as number);
  }

  private conditions(query: RowQuery, state: number | undefined) {
    const { namespace, queue, parent, tags, text } = query;
    const conditions = ['number < ?', 'number >= ?', 'namespace = ?'];
    const values: SQLInputValue[] = [query.before, query.from, this.idOf(`${namespace}/`)];
    const also = (condition: string, ...more: SQLInputValue[]): void => {
      conditions.push(condition);
      values.push(...more);
    };
    if (queue !== undefined) also('queue = ?', this.idOf(queue));
    if (state !== undefined) also('state = ?', state);
    else if (query.state !== undefined) also('state = ?', stateNumber(query.state));
    if (parent !== undefined) also(`parent = ? AND parent <> ''`, parent);
    for (const [name, value] of Object.entries(tags ?? {})) {
      also('number IN (SELECT number FROM tags WHERE tag = ?)', tagText(name, value));
    }
    if (text !== undefined) also('(instr(input, ?) OR instr(result, ?))', text, text);
    return { where: conditions.join(' AND '), values };
  }

  /** -1, which nothing has, for a name that is not here. */
  private idOf(name: string): number {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    const row = this.prepare('SELECT id FROM names WHERE name = ?').get(name);
    if (row === undefined) return -1;
    const id = row.id as number;
    this.names.set(name, id);
    return id;
  }

  private nameId(name: string): number {
    const known = this.idOf(name);
    if (known >= 0) return known;
    const { lastInsertRowid } = this.prepare('INSERT INTO names (name) VALUES (?)').run(name);
    this.names.set(name, Number(lastInsertRowid));
    return Number(lastInsertRowid);
  }

  private prepare(text: string): ReturnType<DatabaseSync['prepare']> {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.db.prepare(text);
      this.statements.set(text, statement);
    }
    return statement;
  }
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

function stateNumber(name: string): number {
  return (TASK_STATES as readonly string[]).indexOf(name);
}

/** It has not ended, or nobody has dealt with its failure. */
function isOpen({ state, isDiscarded }: TaskRecord): boolean {
  const isDead = TASK_STATES[state] === 'failed' || TASK_STATES[state] === 'timed_out';
  return !isTerminal(state) || (isDead && !isDiscarded);
}

function tagText(name: string, value: string): string {
  return JSON.stringify([name, value]);
}

/** Whether it has the tags that are looked for, if any. */
export function hasTags({ tags }: TaskRecord, wanted: Tags | undefined): boolean {
  if (wanted === undefined) return true;
  const own = (tags === '' ? {} : JSON.parse(tags)) as Tags;
  return Object.entries(wanted).every(([name, value]) => {
    return Object.hasOwn(own, name) && own[name] === value;
  });
}
