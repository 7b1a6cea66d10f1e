import { IS_RARE } from './row-conditions.ts';

/**
 * The indexed columns are for search. Payloads are separate columns, so that their text can be
 * searched. The rest of a record is one text. `position` says how much of the log the row has seen,
 * so records that are read again after a crash are not applied twice. `is_open` is 1 for tasks that
 * retention must not remove: open tasks and dead letters. Every search is in one namespace, and
 * each index key belongs to one namespace, so the tasks of other namespaces cost nothing.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    state INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    submitted_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    position INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    parent TEXT NOT NULL,
    input TEXT NOT NULL,
    result TEXT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS unreadable AS SELECT * FROM tasks WHERE 0;
  CREATE INDEX IF NOT EXISTS by_namespace ON tasks (namespace, number);
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

export const UPSERT = `
  INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (number) DO UPDATE SET
    queue = excluded.queue, namespace = excluded.namespace, state = excluded.state,
    is_open = excluded.is_open, submitted_at = excluded.submitted_at,
    ended_at = excluded.ended_at, position = excluded.position, checksum = excluded.checksum,
    parent = excluded.parent, input = excluded.input, result = excluded.result,
    body = excluded.body`;

const COLUMNS = `
  number, (SELECT name FROM names WHERE id = queue) AS queue, submitted_at AS submittedAt,
  position, checksum, parent, input, result, body`;

export const READ = `SELECT ${COLUMNS} FROM tasks WHERE number >= ? AND number < ?`;

// FULL: acknowledged rows are on the disk. Otherwise the log could be trimmed too early (L2).
const PRAGMAS = `
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -16384;
  PRAGMA busy_timeout = 0;
  PRAGMA journal_size_limit = ${16 * 2 ** 20};
`;

export const FORM = { pragmas: PRAGMAS, schema: SCHEMA, version: 1, probe: UPSERT };

/** Free pages are returned to the disk in parts, on request. */
export const SHRINKING_FORM = {
  ...FORM,
  pragmas: `PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; ${PRAGMAS}`,
};
