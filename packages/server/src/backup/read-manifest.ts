import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import {
  BACKUP_FORMAT,
  BACKUP_MANIFEST,
  type BackupBegin,
  type BackupFile,
  isBackupPath,
  type ManifestEnd,
} from '@sluice/protocol/backup-format';

/**
 * The folder is not a complete backup, or not one that this version can read. Nothing was changed.
 */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export interface Manifest {
  readonly begin: BackupBegin;
  readonly end: ManifestEnd;
}

/**
 * Reads the manifest and passes on its entry of each file; throws when the manifest is incomplete.
 */
export async function readManifest(
  folder: string,
  onFile: (file: BackupFile) => void | Promise<void>,
): Promise<Manifest> {
  const path = join(folder, BACKUP_MANIFEST);
  await mustBeThere(path, folder);
  const hash = createHash('sha256');
  let begin: BackupBegin | undefined;
  let end: ManifestEnd | undefined;
  let files = 0;
  for await (const text of createInterface({ input: createReadStream(path) })) {
    if (end !== undefined) throw damaged(path, 'something follows its last line');
    const line = parse(path, text) as BackupBegin | ManifestEnd | BackupFile;
    if ('kind' in line && line.kind === 'end') {
      end = line;
      continue;
    }
    hash.update(`${text}\n`);
    if (begin === undefined) begin = beginOf(path, line);
    else if (!isFile(line)) throw damaged(path, `its line ${files + 2} names no file of a backup`);
    else {
      files += 1;
      await onFile(line);
    }
  }
  if (begin === undefined || end === undefined) throw damaged(path, 'its end is missing');
  const isWhole = end.sha256 === hash.digest('hex') && end.files === files;
  if (!isWhole) throw damaged(path, 'its checksum is another one');
  return { begin, end };
}

async function mustBeThere(path: string, folder: string): Promise<void> {
  try {
    await (await open(path)).close();
  } catch (cause) {
    const problem = `'${folder}' is not a backup: it has no readable ${BACKUP_MANIFEST}`;
    throw new BackupError(problem, { cause });
  }
}

function beginOf(path: string, line: object): BackupBegin {
  const begin = line as Partial<BackupBegin>;
  if (begin.kind !== 'begin' || typeof begin.format !== 'number') {
    throw damaged(path, 'its first line is none');
  }
  if (begin.format > BACKUP_FORMAT) {
    throw new BackupError(
      `the backup has format ${begin.format}, but this version of Sluice reads ${BACKUP_FORMAT}; ` +
        `restore it with Sluice ${begin.version} or later`,
    );
  }
  return line as BackupBegin;
}

function isFile(line: object): line is BackupFile {
  const { path, bytes, sha256 } = line as Partial<BackupFile>;
  return isBackupPath(path) && Number.isSafeInteger(bytes) && typeof sha256 === 'string';
}

function parse(path: string, text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The kind of damage does not matter.
  }
  throw damaged(path, 'a line of it is not JSON');
}

function damaged(path: string, why: string): BackupError {
  return new BackupError(`the backup is damaged: '${path}': ${why}; take another one`);
}
