/**
 * Which files make up a backup, and in which order they are read while the server goes on.
 *
 * Invariants:
 * - B1: What is in the log when its files are read is in the backup, and nothing of later. All else
 *   in it is either older, and the log tells the rest, or stands beside the log.
 * - B2: The log is read last of what depends on it. A row of the projection has seen no record that
 *   the log of the backup lacks, or the records that take its number would not be applied to it.
 * - B3: The mark of the projection is read before its rows: whatever is before the mark is in them.
 * - B4: From before the first file until the log was read nothing of the log is trimmed, so that it
 *   goes back to the mark and to the older snapshot.
 * - B5: Blobs are read behind the log, which names none that is not there, and within the time for
 *   which a blob is kept after its last use.
 */
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { HeldFiles } from '@sluice/log';
import { SluiceError } from '@sluice/protocol';
import { placeOf } from '../blobs/blob-files.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { TaskLogs } from '../logs/task-logs.ts';
import { filesToCopy } from '../projection/rows/day-names.ts';
import { MARK_FILE } from '../projection/rows/mark-file.ts';

/** A file of a backup, from its beginning on. */
export interface BackupPart {
  /** Below the data folder. */
  readonly path: string;
  readonly bytes: number;
  /** The bytes themselves where they are few; else who reads from it closes it. */
  readonly content: Uint8Array | FileHandle;
}

/** The next part takes a while; whoever waits hears of it. */
export const NOT_YET = Symbol('not yet');

export interface BackupSource {
  readonly dataFolder: string;
  readonly log: { hold(): HeldFiles };
  readonly logs: Pick<TaskLogs, 'copies'>;
  readonly blobs: Pick<BlobStore, 'list'>;
  /** Figures for charts, as they are now. */
  readonly statsText: () => string;
}

/** Where copies of databases lie until they are sent, one at a time. */
const STAGING = 'backup.unfinished';

/** What a copy of a database leaves free of the disk. */
const FREE_BYTES_MIN = 64 * 2 ** 20;

const NOT_YET_EVERY_MS = 5000;

/** More than there are. */
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

/** What the log names was used while it was written, and is not removed for a day (B5). */
async function* blobFiles({ dataFolder, blobs }: BackupSource): AsyncGenerator<BackupPart> {
  for await (const found of blobs.list()) {
    for (const key of found) {
      const path = `blobs/${placeOf(key)}`;
      const file = await openIfThere(join(dataFolder, path));
      if (file !== undefined) yield { path, bytes: key.bytes, content: file };
    }
  }
}

/** All are open before the first is read: the oldest goes when a new one is made. */
async function* snapshots(folder: string): AsyncGenerator<BackupPart> {
  const opened = await openSnapshots(folder);
  try {
    for (const { name, file } of opened) {
      yield { path: `snapshots/${name}`, bytes: (await file.stat()).size, content: file };
    }
  } finally {
    // Who read one has closed it.
    for (const { file } of opened) await file.close().catch(() => undefined);
  }
}

interface OpenedSnapshot {
  readonly name: string;
  readonly file: FileHandle;
}

/** The newest is enough for a start, unless it is damaged. */
async function openSnapshots(folder: string): Promise<OpenedSnapshot[]> {
  for (;;) {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.snapshot'));
    const opened: OpenedSnapshot[] = [];
    for (const name of names.sort().toReversed()) {
      const file = await openIfThere(join(folder, name));
      if (file !== undefined) opened.push({ name, file });
    }
    // Newer ones may have taken the place of all that were there a moment ago.
    if (opened.length > 0 || names.length === 0) return opened;
  }
}

/** Removes the copy that a process left which died amid a backup; whoever calls has the folder. */
export async function removeStaged(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, STAGING), { recursive: true, force: true });
}

/** Copies of the databases of the projection, each as it is at one moment (B3). */
async function* databases(dataFolder: string): AsyncGenerator<BackupPart | typeof NOT_YET> {
  const folder = join(dataFolder, 'projection');
  const staging = join(dataFolder, STAGING);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    for (const path of [MARK_FILE, ...filesToCopy(folder)]) {
      const copy = join(staging, basename(path));
      yield* copyDatabase(join(folder, path), copy);
      const file = await openIfThere(copy);
      // Retention took it; what outlives it is in the file that comes last.
      if (file === undefined) continue;
      await rm(copy);
      yield { path: `projection/${path}`, bytes: (await file.stat()).size, content: file };
    }
  } finally {
    await removeStaged(dataFolder);
  }
}

/**
 * In one step, on a connection of its own and in another thread: it sees one moment, and who writes
 * to the database meanwhile does not wait for it.
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
    // It may be gone since it was looked at; what is there and cannot be opened shows in a restore.
    if ((cause as { errcode?: number }).errcode === CANNOT_OPEN) return undefined;
    throw cause;
  }
}

/** A result code of SQLite. */
const CANNOT_OPEN = 14;

/** Whether the work ended in time; how it ended is for somebody else to hear. */
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
