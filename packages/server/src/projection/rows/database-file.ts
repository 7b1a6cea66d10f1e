/**
 * Opens the databases of the projection.
 *
 * A file that cannot be what this version wrote is set aside under another name, and an empty one
 * takes its place: the log tells again what it still holds. A file that only cannot be opened, for
 * lack of rights or because the disk fails, stays where it is, and the error names it.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The files of one database. The one that gives the database its name is the last: if it went first
 * and the process died then, what is left beside it would be taken into the next file of that name.
 */
const COMPANIONS = ['-wal', '-shm', ''];

/** Result codes of SQLite: the content of the file cannot be what was written. */
const CORRUPT = [11, 26];

/** A result code of SQLite: the schema is another one than the statement needs. */
const WRONG_SCHEMA = 1;

export interface DatabaseForm {
  /** Settings of the connection; they come before the schema. */
  readonly pragmas: string;
  readonly schema: string;
  /** Goes up with every change of the schema. */
  readonly version: number;
  /** A statement that fits no other schema. */
  readonly probe: string;
}

/** The file is none that this version wrote. */
class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
}

/** Opens a file, or makes it; its name is durable when this returns. */
export function openDatabase(path: string, form: DatabaseForm): DatabaseSync {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UnusableFileError('it is a folder');
  }
  let db: DatabaseSync | undefined;
  try {
    // SQLite gives what lies beside a file the same rights.
    closeSync(openSync(path, 'a', 0o600));
    db = new DatabaseSync(path);
    db.exec(form.pragmas);
    shape(db, form);
    syncFolder(dirname(path));
    return db;
  } catch (cause) {
    db?.close();
    if (isUnusable(cause)) throw cause;
    const what = (cause as Error).message;
    const todo = 'give the server permission to read and write it, or move it away';
    throw new Error(`cannot open '${path}': ${what}; ${todo}`, { cause });
  }
}

/** Gives an empty database its schema, and refuses one that has another. */
function shape(db: DatabaseSync, { schema, version, probe }: DatabaseForm): void {
  const found = db.prepare('PRAGMA user_version').get()?.user_version;
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!isEmpty && found !== version) {
    throw new UnusableFileError(`its schema has number ${found} instead of ${version}`);
  }
  try {
    db.exec(`${schema}; PRAGMA user_version = ${version};`);
    db.prepare(probe);
  } catch (cause) {
    if (resultOf(cause) !== WRONG_SCHEMA) throw cause;
    throw new UnusableFileError((cause as Error).message, { cause });
  }
}

/** Whether another file must take the place of the one that was used. */
export function isUnusable(cause: unknown): boolean {
  if (cause instanceof UnusableFileError) return true;
  const result = resultOf(cause);
  return result !== undefined && CORRUPT.includes(result);
}

/** What SQLite answered; undefined when the error is not from SQLite. */
export function resultOf(cause: unknown): number | undefined {
  const { errcode } = cause as { errcode?: number };
  // The lowest byte is the result, the others say more about it.
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** Gives the file another name, and answers which. */
export function setAside(path: string): string {
  let aside = `${path}.corrupt`;
  for (let n = 2; existsSync(aside); n++) aside = `${path}.corrupt-${n}`;
  for (const companion of COMPANIONS) {
    if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
  }
  return aside;
}

export function removeDatabase(path: string): void {
  for (const companion of COMPANIONS) {
    if (existsSync(path + companion)) unlinkSync(path + companion);
  }
}

/** Of the file and of what SQLite keeps beside it. */
export function bytesOnDisk(path: string): number {
  return COMPANIONS.reduce((sum, companion) => {
    return sum + (statSync(path + companion, { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

/**
 * Makes the names in a folder durable. The log is trimmed by what is in these files: a power cut
 * must not take one of them away.
 */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
