import { chmodSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type FolderHeld, type FolderLock, hasCode } from './disk.ts';

/** Stays empty and is never removed: a lock on a replaced file would lock nothing. */
const LOCK_FILE = 'lock.sqlite';

/** Names the process that holds the lock, for people. The lock itself does not depend on it. */
const HOLDER_FILE = 'lock.json';

const OWNER_ONLY = 0o600;

const SQLITE_BUSY = 5;

/**
 * Takes the exclusive lock of a folder, or says which process holds it.
 *
 * Node has no `flock`. An open SQLite transaction holds an fcntl lock, which the kernel releases as
 * soon as the process is gone, however it ended. The lock belongs to the file: two paths to one
 * folder share one lock, and so do two containers that share a volume. SQLite also keeps two
 * threads of one process apart, which fcntl alone does not.
 *
 * Only the owner may open the file. Any process that can open it could lock it and keep the server
 * down.
 */
export function lockByFile(folder: string): FolderLock | FolderHeld {
  const path = join(folder, LOCK_FILE);
  makePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Without a journal on disk nothing is written, so that locking works on a full disk.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return { holder: holderOf(folder) };
    throw new Error(`the lock file '${path}' cannot be locked: ${(cause as Error).message}`, {
      cause,
    });
  }
  writeHolder(folder);
  return {
    async release() {
      rmSync(join(folder, HOLDER_FILE), { force: true });
      database.close();
    },
  };
}

/**
 * An existing file is not opened here: closing it would end every fcntl lock that this process has
 * on it.
 */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
    chmodSync(path, OWNER_ONLY);
  }
}

function isBusy(cause: unknown): boolean {
  const { errcode } = cause as { readonly errcode?: unknown };
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY;
}

function writeHolder(folder: string): void {
  const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString();
  const holder = { pid: process.pid, host: hostname(), startedAt };
  try {
    writeFileSync(join(folder, HOLDER_FILE), `${JSON.stringify(holder)}\n`, { mode: OWNER_ONLY });
  } catch (cause) {
    // The server must start even on a full disk: it may be what frees the disk.
    if (!hasCode(cause, 'ENOSPC', 'EDQUOT')) throw cause;
  }
}

/** For people; undefined when the holder has not written it yet, or could not. */
function holderOf(folder: string): string | undefined {
  try {
    const text = readFileSync(join(folder, HOLDER_FILE), 'utf8');
    const { pid, host, startedAt } = JSON.parse(text) as Record<string, unknown>;
    return `process ${pid} on host ${host}, started at ${startedAt}`;
  } catch {
    // The holder is only shown to people, so a missing file is no error.
    return undefined;
  }
}
