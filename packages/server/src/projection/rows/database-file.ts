/**
 * Opens the databases of the projection.
 *
 * A file that this version cannot have written is set aside under another name, and an empty file
 * replaces it. The name says whether the file is damaged or of another schema. The log supplies
 * what it still holds. A file that cannot be opened, because of permissions or a failing disk,
 * stays where it is, and the error names it.
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
 * The files of one database, with the main file last. If the main file were moved first and the
 * process died, SQLite would apply the remaining ones to the next database of that name.
 */
const COMPANIONS = ['-wal', '-shm', ''];

/** SQLite's result codes for damaged content: SQLITE_CORRUPT and SQLITE_NOTADB. */
const CORRUPT = [11, 26];

/** SQLite's result code when a statement does not fit the schema. */
const WRONG_SCHEMA = 1;

export interface DatabaseForm {
  /** Settings of the connection, applied before the schema. */
  readonly pragmas: string;
  readonly schema: string;
  /** Increases with every change of the schema. */
  readonly version: number;
  /** A statement that fits no other schema. */
  readonly probe: string;
}

/** This version did not write the file. */
class UnusableFileError extends Error {
  override readonly name: string = 'UnusableFileError';
}

/** Another version of Sluice wrote the file: nothing is wrong with it. */
export class OtherSchemaError extends UnusableFileError {
  override readonly name = 'OtherSchemaError';
  readonly found: number;

  constructor(found: number, expected: number) {
    super(`its schema has number ${found} instead of ${expected}`);
    this.found = found;
  }
}

/** Opens or creates a file; its name is durable when this returns. */
export function openDatabase(path: string, form: DatabaseForm): DatabaseSync {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UnusableFileError('it is a folder');
  }
  let db: DatabaseSync | undefined;
  try {
    // SQLite gives the companion files the same permissions.
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

/** Gives an empty database its schema, and refuses a database with another schema. */
function shape(db: DatabaseSync, { schema, version, probe }: DatabaseForm): void {
  const found = db.prepare('PRAGMA user_version').get()?.user_version;
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!isEmpty && found !== version) {
    throw new OtherSchemaError(found as number, version);
  }
  try {
    db.exec(`${schema}; PRAGMA user_version = ${version};`);
    db.prepare(probe);
  } catch (cause) {
    if (resultOf(cause) !== WRONG_SCHEMA) throw cause;
    throw new UnusableFileError((cause as Error).message, { cause });
  }
}

/** Whether the file must be replaced by another. */
export function isUnusable(cause: unknown): boolean {
  if (cause instanceof UnusableFileError) return true;
  const result = resultOf(cause);
  return result !== undefined && CORRUPT.includes(result);
}

/** SQLite's result code; undefined when the error is not from SQLite. */
export function resultOf(cause: unknown): number | undefined {
  const { errcode } = cause as { errcode?: number };
  // The lowest byte is the result code; the others are details.
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** Renames the file, for this reason, and returns the new name. */
export function setAside(path: string, cause: unknown): string {
  const reason = cause instanceof OtherSchemaError ? `schema-${cause.found}` : 'corrupt';
  let aside = `${path}.${reason}`;
  for (let n = 2; existsSync(aside); n++) aside = `${path}.${reason}-${n}`;
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

/** Size of the file and its companions. */
export function bytesOnDisk(path: string): number {
  return COMPANIONS.reduce((sum, companion) => {
    return sum + (statSync(path + companion, { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

/**
 * Makes the names in a folder durable. The log is trimmed because these files hold its content, so
 * a power cut must not remove one of them.
 */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
