import { join, resolve } from 'node:path';
import {
  type NewSnapshot,
  type SaveContent,
  SnapshotDamagedError,
  type SnapshotHeader,
  type SnapshotStore,
  type StoredSnapshot,
} from '../contract/snapshot-store.ts';
import type { Disk, SyncFile } from '../disk/disk.ts';
import { ensureFolder, removeIfThere } from '../disk/durable-folder.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import {
  CHUNK_BYTES_MAX,
  CHUNK_HEADER_BYTES,
  chunkChecksum,
  decodeSnapshotHeader,
  encodeChunkHeader,
  encodeSnapshotHeader,
  SNAPSHOT_HEADER_BYTES,
} from './snapshot-format.ts';

const POSITION_DIGITS = 16;
const PATTERN = /^(\d{16})\.snapshot$/;
const UNFINISHED = '.unfinished';
const NO_BYTES = new Uint8Array(0);

/**
 * Snapshots as files of one folder, named by their positions. One process saves at a time.
 *
 * Contents are read and written synchronously: this is for a process that does nothing else, and
 * for the start, when no requests are served yet.
 */
export class FileSnapshots implements SnapshotStore {
  readonly #disk: Disk;
  readonly #folder: string;

  private constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** Creates the folder, for its owner only, when it does not exist. */
  static async open(folder: string, disk: Disk = nodeDisk): Promise<FileSnapshots> {
    const path = resolve(folder);
    await ensureFolder(disk, path);
    return new FileSnapshots(disk, path);
  }

  async positions(): Promise<readonly number[]> {
    // The log is trimmed by this result, so the names must not vanish any more. A save may have
    // reached the rename before its sync failed or its process was killed.
    await this.#disk.syncFolder(this.#folder);
    const files = (await this.#disk.list(this.#folder)).map((file) => PATTERN.exec(file)?.[1]);
    const positions = files.filter((digits) => digits !== undefined).map(Number);
    return positions.sort((a, b) => b - a);
  }

  async open(position: number): Promise<StoredSnapshot> {
    const path = this.#pathOf(position);
    const file = this.#disk.openSync(path, 'read');
    try {
      const { header } = readHeader(path, file);
      if (header.position === position) return { ...header, pieces: readPieces(this.#disk, path) };
      throw new SnapshotDamagedError(path, `it is of record ${header.position}`);
    } finally {
      file.close();
    }
  }

  async save({ base, ...header }: NewSnapshot, content: SaveContent): Promise<void> {
    await this.#removeUnfinished();
    const path = this.#pathOf(header.position);
    const unfinished = path + UNFINISHED;
    try {
      writeSnapshot(this.#disk.openSync(unfinished, 'create'), header, content);
    } catch (error) {
      // On a full disk every byte counts. A file that cannot be removed is removed by the next
      // save.
      await removeIfThere(this.#disk, unfinished).catch(() => {});
      throw error;
    }
    await this.#disk.rename(unfinished, path);
    // `positions` makes the new name durable.
    for (const position of await this.positions()) {
      const isKept = position === header.position || position === base;
      if (!isKept) await this.#disk.remove(this.#pathOf(position));
    }
  }

  /** Files of a process that died while it saved. */
  async #removeUnfinished(): Promise<void> {
    for (const file of await this.#disk.list(this.#folder)) {
      if (file.endsWith(UNFINISHED)) await this.#disk.remove(join(this.#folder, file));
    }
  }

  #pathOf(position: number): string {
    return join(this.#folder, snapshotName(position));
  }
}

/** The file of a snapshot in its folder. */
export function snapshotName(position: number): string {
  return `${String(position).padStart(POSITION_DIGITS, '0')}.snapshot`;
}

function writeSnapshot(file: SyncFile, header: SnapshotHeader, content: SaveContent): void {
  try {
    const bytes = encodeSnapshotHeader(header);
    writeWhole(file, bytes);
    let checksum = bytes.readUInt32LE(SNAPSHOT_HEADER_BYTES - 4);
    const writeChunk = (chunk: Uint8Array) => {
      const chunkHeader = encodeChunkHeader(chunk, checksum);
      checksum = chunkHeader.readUInt32LE(4);
      writeWhole(file, chunkHeader);
      writeWhole(file, chunk);
    };
    content((piece) => {
      if (piece.length > 0) writeChunk(piece);
    });
    writeChunk(NO_BYTES);
    file.sync();
  } finally {
    file.close();
  }
}

/** A nearly full disk accepts a part and reports success. */
function writeWhole(file: SyncFile, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += file.write(bytes.subarray(written));
}

function* readPieces(disk: Disk, path: string): Generator<Uint8Array> {
  const file = disk.openSync(path, 'read');
  try {
    let { checksum } = readHeader(path, file);
    const chunkHeader = Buffer.alloc(CHUNK_HEADER_BYTES);
    let memory = Buffer.alloc(0);
    let at = SNAPSHOT_HEADER_BYTES;
    for (;;) {
      readWhole(file, chunkHeader, at, path);
      at += CHUNK_HEADER_BYTES;
      const length = chunkHeader.readUInt32LE(0);
      if (length > CHUNK_BYTES_MAX) throw damagedAt(path, at);
      if (memory.length < length) memory = Buffer.allocUnsafeSlow(length);
      const chunk = memory.subarray(0, length);
      readWhole(file, chunk, at, path);
      checksum = chunkChecksum(chunkHeader, chunk, checksum);
      if (checksum !== chunkHeader.readUInt32LE(4)) throw damagedAt(path, at);
      at += length;
      if (length === 0) break;
      yield chunk;
    }
    const { bytes } = file;
    if (bytes !== at) throw new SnapshotDamagedError(path, `${bytes - at} bytes follow its end`);
  } finally {
    file.close();
  }
}

function readHeader(path: string, file: SyncFile) {
  if (file.bytes < SNAPSHOT_HEADER_BYTES + CHUNK_HEADER_BYTES) {
    throw new SnapshotDamagedError(path, `it has ${file.bytes} bytes`);
  }
  const bytes = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  readWhole(file, bytes, 0, path);
  const reading = decodeSnapshotHeader(bytes);
  if (reading.kind === 'invalid') throw new SnapshotDamagedError(path, reading.finding);
  return reading;
}

function readWhole(file: SyncFile, target: Buffer, position: number, path: string): void {
  let filled = 0;
  while (filled < target.length) {
    const count = file.read(target.subarray(filled), position + filled);
    if (count === 0) throw new SnapshotDamagedError(path, `it ends after ${position} bytes`);
    filled += count;
  }
}

function damagedAt(path: string, at: number): SnapshotDamagedError {
  return new SnapshotDamagedError(path, `the part before byte ${at} has another checksum`);
}
