import { createHash, randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_NAMESPACE, type ResetAfterRestore } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import { FileLog, FileSnapshots } from '@sluice/log';
import type { BackupFile } from '@sluice/protocol/backup-format';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';
import { BackupError, type Manifest, readManifest } from './read-manifest.ts';
import { UNFINISHED_RESTORE } from './unfinished-restore.ts';
import { isNewer } from './version-order.ts';

export interface RestoreOrder {
  /** Folder of the backup. */
  readonly folder: string;
  /** The data folder for a server; it must be empty. */
  readonly dataFolder: string;
  /** The number of the partition that the data folder is for. */
  readonly partition: number;
  /** The settings that the server will run with: what was stored must fit them. */
  readonly limits: LimitSettings['limits'];
  readonly quotas: LimitSettings['quotas'];
  /** Version of this Sluice. */
  readonly version: string;
  readonly onProgress: (what: 'checked' | 'copied', bytes: number) => void;
}

export interface Restored {
  readonly files: number;
  readonly bytes: number;
  /** When the backup began, and the time of the last change in it. */
  readonly startedAt: string;
  readonly upTo: string;
  /** Tasks in memory, finished or not. */
  readonly tasks: number;
  /** Tasks that were leased; they run again. */
  readonly returned: number;
}

/**
 * Lease numbers skip this far ahead. So they differ from those of a server that ran on after the
 * backup, and of any other restore of the same backup.
 */
const SKIPPED_MIN = 2 ** 38;

/** The same for deliveries. Their ids have room for 2^36 numbers: more than a hundred restores. */
const DELIVERIES_SKIPPED_MIN = 2 ** 28;

/**
 * Makes a data folder from a backup: checks all of it, copies it, and ends every lease, because
 * workers may hold leases from after the backup.
 *
 * Rejects with a `BackupError` before anything is written when the backup is incomplete or the
 * folder is not empty.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { folder, dataFolder } = order;
  const files: BackupFile[] = [];
  const manifest = await readManifest(folder, (file) => void files.push(file));
  const { version } = manifest.begin;
  if (isNewer(version, order.version)) {
    throw new BackupError(
      `the backup was made by Sluice ${version}, which is newer than ${order.version}; ` +
        `restore it with ${version} or later`,
    );
  }
  for (const file of files) {
    await check(folder, file);
    order.onProgress('checked', file.bytes);
  }
  await claim(dataFolder);
  const again = await fill(order, files, manifest).catch(async (cause: Error) => {
    await empty(dataFolder);
    throw cause;
  });
  const { startedAt } = manifest.begin;
  return { files: files.length, bytes: manifest.end.bytes, startedAt, ...again };
}

async function check(folder: string, { path, bytes, sha256 }: BackupFile): Promise<void> {
  const full = join(folder, path);
  const size = (await stat(full).catch(() => undefined))?.size;
  if (size === undefined) throw damaged(full, 'it is missing');
  if (size !== bytes) throw damaged(full, `it has ${size} bytes instead of ${bytes}`);
  const hash = createHash('sha256');
  for await (const piece of createReadStream(full, { highWaterMark: 2 ** 20 }))
    hash.update(piece as Buffer);
  if (hash.digest('hex') !== sha256) throw damaged(full, 'its checksum is another one');
}

function damaged(path: string, why: string): BackupError {
  return new BackupError(`the backup is damaged: '${path}': ${why}; take another one`);
}

/** From here on the folder belongs to this restore, and no server starts on it. */
async function claim(dataFolder: string): Promise<void> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const [first] = await readdir(dataFolder);
  if (first === UNFINISHED_RESTORE) {
    throw new BackupError(
      `'${dataFolder}' has a part of a restore that is running or has failed; ` +
        'if none is running, empty the folder and restore again',
    );
  }
  if (first !== undefined) {
    throw new BackupError(`'${dataFolder}' is not empty: choose another folder, or move it away`);
  }
  const mark = await open(join(dataFolder, UNFINISHED_RESTORE), 'wx', 0o600);
  await mark.close();
  await sync(dataFolder);
}

async function fill(
  order: RestoreOrder,
  files: readonly BackupFile[],
  manifest: Manifest,
): Promise<Again> {
  await copyAll(order, files);
  const again = await resetAfterRestore(order, manifest);
  await rm(join(order.dataFolder, UNFINISHED_RESTORE));
  await sync(order.dataFolder);
  return again;
}

/** The folder was empty before. The mark is removed last. */
async function empty(dataFolder: string): Promise<void> {
  const names = (await readdir(dataFolder)).filter((name) => name !== UNFINISHED_RESTORE);
  for (const name of [...names, UNFINISHED_RESTORE]) {
    await rm(join(dataFolder, name), { recursive: true, force: true });
  }
}

async function copyAll(order: RestoreOrder, files: readonly BackupFile[]): Promise<void> {
  const { folder, dataFolder, onProgress } = order;
  const folders = new Set<string>([dataFolder]);
  for (const { path, bytes } of files) {
    const target = join(dataFolder, path);
    for (let up = dirname(target); !folders.has(up); up = dirname(up)) folders.add(up);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(join(folder, path), target);
    await sync(target);
    onProgress('copied', bytes);
  }
  for (const each of folders) await sync(each);
}

type Again = Pick<Restored, 'upTo' | 'tasks' | 'returned'>;

/** Reads what a server will read: the whole log is replayed, and must fit the limits. */
async function resetAfterRestore(
  { dataFolder, partition, limits, quotas }: RestoreOrder,
  { begin }: Manifest,
): Promise<Again> {
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const resting = {
      log,
      snapshots: await FileSnapshots.open(join(dataFolder, 'snapshots')),
      partition: { partition, limits: partitionLimits({ limits, quotas }), utf8: UTF8 },
      clock: Date.now,
      nonce: randomInt(2 ** 48 - 1),
    };
    const command = {
      type: 'reset_after_restore',
      namespace: DEFAULT_NAMESPACE,
      leasesSkipped: SKIPPED_MIN + randomInt(SKIPPED_MIN),
      deliveriesSkipped: DELIVERIES_SKIPPED_MIN + randomInt(DELIVERIES_SKIPPED_MIN),
      by: author(begin.startedAt),
    } as const;
    return await executeOnce<ResetAfterRestore, Again>(
      resting,
      command,
      ({ returned, upTo }, state) => {
        return { returned, upTo: timeText(upTo), tasks: state.tasks.count };
      },
    );
  } finally {
    await log.close();
  }
}

function author(startedAt: string) {
  const detail = `as of ${startedAt}`;
  return { actor: 'data-folder', address: '', request: '', subject: 'server', detail };
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
