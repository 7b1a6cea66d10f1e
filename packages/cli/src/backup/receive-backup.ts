import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  BACKUP_FORMAT,
  BACKUP_MANIFEST,
  type BackupBegin,
  type BackupLine,
  isBackupPath,
  type ManifestEnd,
} from '@sluice/protocol/backup-format';
import { NoServerError, RefusedError } from '../api/api-errors.ts';
import { ByteReader } from './byte-reader.ts';

/** Longer than any line of a backup. */
const LINE_BYTES_MAX = 64 * 1024;

export interface Received {
  readonly files: number;
  readonly bytes: number;
  readonly version: string;
  readonly startedAt: string;
}

/**
 * Writes the files of a backup below a folder as they arrive, and the end of its manifest last. The
 * files are durable when it returns. After any failure the folder has no complete manifest.
 */
export async function receiveBackup(
  pieces: AsyncIterable<Uint8Array>,
  folder: string,
  onBytes: (bytes: number, path: string) => void,
): Promise<Received> {
  const reader = new ByteReader(pieces);
  const begin = beginOf(await nextLine(reader));
  const manifest = await ManifestFile.create(join(folder, BACKUP_MANIFEST), begin);
  const folders = new Set([folder]);
  try {
    for (;;) {
      const line = await nextLine(reader);
      if (line.kind === 'end') {
        await manifest.end(line);
        break;
      }
      if (line.kind !== 'file') throw brokenOff(`unexpected line '${line.kind}'`);
      const { path, bytes } = line;
      if (!isBackupPath(path)) throw brokenOff('invalid file name');
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      for (let up = dirname(target); !folders.has(up); up = dirname(up)) folders.add(up);
      const sha256 = await receiveFile(reader, { target, bytes }, (count) => onBytes(count, path));
      await manifest.add(JSON.stringify({ path, bytes, sha256 }));
    }
  } finally {
    await manifest.close();
  }
  for (const each of folders) await syncPath(each);
  const { files, bytes } = manifest;
  return { files, bytes, version: begin.version, startedAt: begin.startedAt };
}

/** Makes the names in a folder, or the content of a file, durable. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The next line that is not a keep-alive. */
async function nextLine(reader: ByteReader): Promise<BackupLine> {
  for (;;) {
    const text = await reader.line(LINE_BYTES_MAX);
    if (text === undefined) throw brokenOff('the stream ended early');
    const line = parse(text);
    if (line.kind === 'error') throw new RefusedError(`${line.message} (${line.code})`);
    if (line.kind !== 'wait') return line;
  }
}

function parse(text: string): BackupLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null && 'kind' in line) return line as BackupLine;
  } catch {
    // The kind of damage does not matter.
  }
  throw brokenOff('invalid line');
}

function beginOf(line: BackupLine): BackupBegin {
  if (line.kind !== 'begin') throw brokenOff('the first line is missing');
  if (line.format <= BACKUP_FORMAT) return line;
  throw new RefusedError(
    `the server sends format ${line.format}, but this command supports ${BACKUP_FORMAT}; use the ` +
      `command line of Sluice ${line.version}`,
  );
}

/** Returns the checksum of the written bytes, which equals that of the sent bytes. */
async function receiveFile(
  reader: ByteReader,
  { target, bytes }: { readonly target: string; readonly bytes: number },
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(target, 'wx', 0o600);
  let written = 0;
  try {
    for (;;) {
      const line = await nextLine(reader);
      if (line.kind === 'check') {
        const sha256 = hash.digest('hex');
        if (line.sha256 !== sha256 || written !== bytes) throw brokenOff('a file arrived damaged');
        await file.sync();
        return sha256;
      }
      if (line.kind !== 'piece') throw brokenOff(`unexpected line '${line.kind}'`);
      for await (const part of reader.bytes(line.bytes)) {
        hash.update(part);
        await file.writeFile(part);
        written += part.length;
        onBytes(part.length);
      }
    }
  } finally {
    await file.close();
  }
}

/** Grows with each received file; its last line makes it complete. */
class ManifestFile {
  files = 0;
  bytes = 0;
  private readonly file: FileHandle;
  private readonly hash = createHash('sha256');

  private constructor(file: FileHandle) {
    this.file = file;
  }

  static async create(path: string, begin: BackupBegin): Promise<ManifestFile> {
    const manifest = new ManifestFile(await open(path, 'wx', 0o600));
    await manifest.write(JSON.stringify(begin));
    return manifest;
  }

  async add(line: string): Promise<void> {
    this.files += 1;
    await this.write(line);
  }

  /** The server says how many files there were. Fewer files mean an incomplete transfer. */
  async end({ files, bytes }: { readonly files: number; readonly bytes: number }): Promise<void> {
    if (files !== this.files) throw brokenOff(`only ${this.files} of ${files} files arrived`);
    this.bytes = bytes;
    const finishedAt = new Date().toISOString();
    const sha256 = this.hash.digest('hex');
    const line: ManifestEnd = { kind: 'end', files, bytes, finishedAt, sha256 };
    await this.file.writeFile(`${JSON.stringify(line)}\n`);
    await this.file.sync();
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async write(line: string): Promise<void> {
    this.hash.update(`${line}\n`);
    await this.file.writeFile(`${line}\n`);
  }
}

function brokenOff(why: string): NoServerError {
  return new NoServerError(`the backup failed: ${why}`);
}
