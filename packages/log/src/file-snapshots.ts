import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, syncFolder } from './durable-folder.ts';
import {
  CHUNK_BYTES_MAX,
  CHUNK_HEADER_BYTES,
  chunkChecksum,
  decodeSnapshotHeader,
  encodeChunkHeader,
  encodeSnapshotHeader,
  SNAPSHOT_HEADER_BYTES,
} from './snapshot-format.ts';
import {
  type SaveContent,
  SNAPSHOTS_KEPT,
  SnapshotDamagedError,
  type SnapshotHeader,
  type SnapshotStore,
  type StoredSnapshot,
} from './snapshot-store.ts';

const POSITION_DIGITS = 16;
const PATTERN = /^(\d{16})\.snapshot$/;
const UNFINISHED = '.unfinished';
const NO_BYTES = new Uint8Array(0);

/**
 * Snapshots as files of one folder, named by their positions. One process saves at a time.
 *
 * Contents are read and written without waiting in between: this is for a thread that does nothing
 * else, and for a start, when nobody is served yet.
 */
export class FileSnapshots implements SnapshotStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates the folder, for its owner only, when it does not exist. */
  static async open(folder: string): Promise<FileSnapshots> {
    await ensureFolder(folder);
    return new FileSnapshots(folder);
  }

  async positions(): Promise<readonly number[]> {
    const files = (await readdir(this.#folder)).map((file) => PATTERN.exec(file)?.[1]);
    const positions = files.filter((digits) => digits !== undefined).map(Number);
    return positions.sort((a, b) => b - a);
  }

  async open(position: number): Promise<StoredSnapshot> {
    const path = this.#pathOf(position);
    const descriptor = openSync(path, 'r');
    try {
      const { header } = readHeader(path, descriptor);
      if (header.position === position) return { ...header, pieces: readPieces(path) };
      throw new SnapshotDamagedError(path, `it is of record ${header.position}`);
    } finally {
      closeSync(descriptor);
    }
  }

  async save(header: SnapshotHeader, content: SaveContent): Promise<void> {
    await this.#removeUnfinished();
    const path = this.#pathOf(header.position);
    const unfinished = path + UNFINISHED;
    try {
      writeSnapshot(unfinished, header, content);
    } catch (error) {
      // On a full disk every byte counts. What cannot be removed goes with the next save.
      await rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
    await rename(unfinished, path);
    await syncFolder(this.#folder);
    for (const position of (await this.positions()).slice(SNAPSHOTS_KEPT)) {
      await rm(this.#pathOf(position));
    }
  }

  /** A process that died while it saved left these behind. */
  async #removeUnfinished(): Promise<void> {
    for (const file of await readdir(this.#folder)) {
      if (file.endsWith(UNFINISHED)) await rm(join(this.#folder, file));
    }
  }

  #pathOf(position: number): string {
    return join(this.#folder, `${String(position).padStart(POSITION_DIGITS, '0')}.snapshot`);
  }
}

function writeSnapshot(path: string, header: SnapshotHeader, content: SaveContent): void {
  const descriptor = openSync(path, 'w', 0o600);
  try {
    const bytes = encodeSnapshotHeader(header);
    writeWhole(descriptor, bytes);
    let checksum = bytes.readUInt32LE(SNAPSHOT_HEADER_BYTES - 4);
    const writeChunk = (chunk: Uint8Array) => {
      const chunkHeader = encodeChunkHeader(chunk, checksum);
      checksum = chunkHeader.readUInt32LE(4);
      writeWhole(descriptor, chunkHeader);
      writeWhole(descriptor, chunk);
    };
    content((piece) => {
      if (piece.length > 0) writeChunk(piece);
    });
    writeChunk(NO_BYTES);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A nearly full disk takes a part and reports success. */
function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}

function* readPieces(path: string): Generator<Uint8Array> {
  const descriptor = openSync(path, 'r');
  try {
    let { checksum } = readHeader(path, descriptor);
    const chunkHeader = Buffer.alloc(CHUNK_HEADER_BYTES);
    let memory = Buffer.alloc(0);
    let at = SNAPSHOT_HEADER_BYTES;
    for (;;) {
      readWhole(descriptor, chunkHeader, at, path);
      at += CHUNK_HEADER_BYTES;
      const length = chunkHeader.readUInt32LE(0);
      if (length > CHUNK_BYTES_MAX) throw damagedAt(path, at);
      if (memory.length < length) memory = Buffer.allocUnsafeSlow(length);
      const chunk = memory.subarray(0, length);
      readWhole(descriptor, chunk, at, path);
      checksum = chunkChecksum(chunkHeader, chunk, checksum);
      if (checksum !== chunkHeader.readUInt32LE(4)) throw damagedAt(path, at);
      at += length;
      if (length === 0) break;
      yield chunk;
    }
    const { size } = fstatSync(descriptor);
    if (size !== at) throw new SnapshotDamagedError(path, `${size - at} bytes follow its end`);
  } finally {
    closeSync(descriptor);
  }
}

function readHeader(path: string, descriptor: number) {
  const bytes = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  const { size } = fstatSync(descriptor);
  if (size < SNAPSHOT_HEADER_BYTES + CHUNK_HEADER_BYTES) {
    throw new SnapshotDamagedError(path, `it has ${size} bytes`);
  }
  readWhole(descriptor, bytes, 0, path);
  const reading = decodeSnapshotHeader(bytes);
  if (reading.kind === 'invalid') throw new SnapshotDamagedError(path, reading.finding);
  return reading;
}

function readWhole(descriptor: number, target: Buffer, position: number, path: string): void {
  let filled = 0;
  while (filled < target.length) {
    const count = readSync(descriptor, target, filled, target.length - filled, position + filled);
    if (count === 0) throw new SnapshotDamagedError(path, `it ends after ${position} bytes`);
    filled += count;
  }
}

function damagedAt(path: string, at: number): SnapshotDamagedError {
  return new SnapshotDamagedError(path, `the part before byte ${at} has another checksum`);
}
