/**
 * Which files make up a backup, and in which order they are read while the server runs.
 *
 * Invariants:
 * - The backup contains exactly the log as it was when its files were read. Everything else in
 *   the backup is either older, and the log completes it, or independent of the log.
 * - The log is read after everything that depends on it. A row of the projection has seen no
 *   record that the log of the backup lacks. Otherwise new records with the same number would not
 *   be applied to it.
 * backup.mark-before-rows: The mark of the projection is read before its rows: the rows contain
 *   everything before the mark.
 * - The log is not trimmed from before the first file is read until the log is read. So it goes
 *   back to the mark and to the older snapshot.
 * backup.blobs-after-log: Blobs are read after the log, within the time for which a blob is kept
 *   after its last use. The log names only blobs that exist.
 */
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { HeldFiles } from '@sluice/log';
import { SluiceError } from '@sluice/protocol';
import { placeOf } from '../blobs/blob-files.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import { filesToCopy } from '../projection/rows/day-names.ts';
import { MARK_FILE } from '../projection/rows/mark-file.ts';

/** A file of a backup: its first `bytes` bytes. */
export interface BackupPart {
  /** Relative to the data folder. */
  readonly path: string;
  readonly bytes: number;
  /** The bytes themselves if there are few. Otherwise a file that its reader closes. */
  readonly content: Uint8Array | FileHandle;
}

/** The next part takes a while. The client is told so. */
export const NOT_YET = Symbol('not yet');

export interface BackupSource {
  readonly dataFolder: string;
  readonly log: { hold(): HeldFiles };
  readonly logs: Pick<TaskLines, 'copies'>;
  readonly blobs: Pick<BlobStore, 'list'>;
  /** The current statistics for charts. */
  readonly statsText: () => string;
}

/** Holds copies of databases until they are sent, one at a time. */
const STAGING = 'backup.unfinished';

/** Free disk space that a copy of a database must leave. */
const FREE_BYTES_MIN = 64 * 2 ** 20;

const NOT_YET_EVERY_MS = 5000;

/** More pages than any database has. */
const PAGES_ALL = 2 ** 31 - 1;

export async function* backupFiles(
  source: BackupSource,
  onReleased: () => void,
): AsyncGenerator<BackupPart | typeof NOT_YET> {
  const { dataFolder, log, logs, statsText } = source;
  const held = log.hold();
  try {
    yield* snapshots(join(dataFolder, 'snapshots'));
    yield* databases(dataFolder);
    for (const { path, bytes } of held.committed()) {
      yield { path: `log/${basename(path)}`, bytes, content: await open(path) };
    }
  } finally {
    held.release();
    onReleased();
  }
  const stats = Buffer.from(statsText());
  yield { path: 'stats.json', bytes: stats.length, content: stats };
  for await (const { path, content } of logs.copies()) {
    yield { path: `task-logs/${path}`, bytes: content.length, content };
  }
  yield* blobFiles(source);
}

/**
 * A blob that the log names was used while the log was written, and is kept for a day
 * (backup.blobs-after-log).
 */
async function* blobFiles({ dataFolder, blobs }: BackupSource): AsyncGenerator<BackupPart> {
  for await (const found of blobs.list()) {
    for (const key of found) {
      const path = `blobs/${placeOf(key)}`;
      const file = await openIfThere(join(dataFolder, path));
      if (file !== undefined) yield { path, bytes: key.bytes, content: file };
    }
  }
}

/**
 * All snapshots are opened before the first is read: the oldest is removed when a new one is made.
 */
async function* snapshots(folder: string): AsyncGenerator<BackupPart> {
  const opened = await openSnapshots(folder);
  try {
    for (const { name, file } of opened) {
      yield { path: `snapshots/${name}`, bytes: (await file.stat()).size, content: file };
    }
  } finally {
    // Its reader has already closed a snapshot that was sent.
    for (const { file } of opened) await file.close().catch(() => undefined);
  }
}

interface OpenedSnapshot {
  readonly name: string;
  readonly file: FileHandle;
}

/** The newest snapshot is enough for a start, unless it is damaged. */
async function openSnapshots(folder: string): Promise<OpenedSnapshot[]> {
  for (;;) {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.snapshot'));
    const opened: OpenedSnapshot[] = [];
    for (const name of names.sort().toReversed()) {
      const file = await openIfThere(join(folder, name));
      if (file !== undefined) opened.push({ name, file });
    }
    // Newer snapshots may have replaced all the listed ones meanwhile.
    if (opened.length > 0 || names.length === 0) return opened;
  }
}

/**
 * Removes the copy left by a process that died during a backup. The caller holds the folder's lock.
 */
export async function removeStaged(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, STAGING), { recursive: true, force: true });
}

/** Copies of the projection's databases, each a consistent snapshot (backup.mark-before-rows). */
async function* databases(dataFolder: string): AsyncGenerator<BackupPart | typeof NOT_YET> {
  const folder = join(dataFolder, 'projection');
  const staging = join(dataFolder, STAGING);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    for (const path of [MARK_FILE, ...filesToCopy(folder)]) {
      const copy = join(staging, basename(path));
      yield* copyDatabase(join(folder, path), copy);
      const file = await openIfThere(copy);
      // Retention removed it. The rows that outlive it are in the last file.
      if (file === undefined) continue;
      await rm(copy);
      yield { path: `projection/${path}`, bytes: (await file.stat()).size, content: file };
    }
  } finally {
    await removeStaged(dataFolder);
  }
}

/**
 * Copies in one step, on a separate connection and in another thread. The copy is consistent, and
 * writers to the database do not wait for it.
 */
async function* copyDatabase(from: string, to: string): AsyncGenerator<typeof NOT_YET> {
  if (!(await hasRoomFor(from))) return;
  const database = openDatabase(from);
  if (database === undefined) return;
  const copying = backup(database, to, { rate: PAGES_ALL });
  try {
    while (!(await isOver(copying))) yield NOT_YET;
  } finally {
    await copying.finally(() => database.close());
  }
}

/** False when there is no such file. */
async function hasRoomFor(path: string): Promise<boolean> {
  const { bsize, bavail } = await statfs(join(path, '..'));
  const sizes = await Promise.all([path, `${path}-wal`].map(bytesOf));
  if (sizes[0] === undefined) return false;
  const bytes = sizes.reduce((sum: number, each) => sum + (each ?? 0), 0);
  if (bsize * bavail - bytes >= FREE_BYTES_MIN) return true;
  const what = `a copy of ${basename(path)}, which takes ${bytes} bytes`;
  throw new SluiceError('disk_full', `the disk of the server has no space for ${what}`);
}

async function bytesOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

function openDatabase(path: string): DatabaseSync | undefined {
  try {
    return new DatabaseSync(path, { readOnly: true });
  } catch (cause) {
    // The file may be gone since its size was read. A file that exists but cannot be opened is
    // found by the restore.
    if ((cause as { errcode?: number }).errcode === CANNOT_OPEN) return undefined;
    throw cause;
  }
}

/** SQLite's result code SQLITE_CANTOPEN. */
const CANNOT_OPEN = 14;

/** Whether the work ended in time. Its result is handled elsewhere. */
async function isOver(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), NOT_YET_EVERY_MS);
  });
  const done = () => true;
  try {
    return await Promise.race([work.then(done, done), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
