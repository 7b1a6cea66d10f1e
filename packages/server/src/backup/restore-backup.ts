import { createHash, randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_NAMESPACE, type ResetAfterRestore } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import { FileLog, FileSnapshots } from '@sluice/log';
import type { BackupFile } from '@sluice/protocol/backup-format';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';
import { BackupError, type Manifest, readManifest } from './read-manifest.ts';
import { skippedNumbers } from './skipped-numbers.ts';
import { claimFolder, completeFolder, emptyFolder, syncPath } from './unfinished-restore.ts';
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
 * Makes a data folder from a backup: checks all of it, copies it, and ends every lease, because
 * workers may hold leases from after the backup.
 *
 * Rejects before anything is written: with a `BackupError` when the backup is incomplete, and with
 * a `FolderNotEmptyError` when the folder is not empty.
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
  await claimFolder(dataFolder, 'restore');
  const again = await fill(order, files, manifest).catch(async (cause: Error) => {
    await emptyFolder(dataFolder);
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

async function fill(
  order: RestoreOrder,
  files: readonly BackupFile[],
  manifest: Manifest,
): Promise<Again> {
  await copyAll(order, files);
  const again = await resetAfterRestore(order, manifest);
  await completeFolder(order.dataFolder);
  return again;
}

async function copyAll(order: RestoreOrder, files: readonly BackupFile[]): Promise<void> {
  const { folder, dataFolder, onProgress } = order;
  const folders = new Set<string>([dataFolder]);
  for (const { path, bytes } of files) {
    const target = join(dataFolder, path);
    for (let up = dirname(target); !folders.has(up); up = dirname(up)) folders.add(up);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(join(folder, path), target);
    await syncPath(target);
    onProgress('copied', bytes);
  }
  for (const each of folders) await syncPath(each);
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
      ...skippedNumbers(),
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
