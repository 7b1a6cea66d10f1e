/**
 * The bytes of a snapshot file: a header, the content in chunks, a trailer, and nothing after it.
 *
 * Invariants:
 * - A checksum covers every byte: of the header, of each chunk with its length, of the trailer.
 * snapshot-file.chained-chunks: The checksum of a chunk continues from the previous one, beginning
 *   with the header's. So chunks that were lost, swapped or belong to another snapshot are found,
 *   even if each is valid by itself.
 * - A file without its trailer is not a snapshot, however much of it exists.
 */
import { crc32 } from 'node:zlib';
import type { SnapshotHeader } from '../contract/snapshot-store.ts';

export const SNAPSHOT_HEADER_BYTES = 48;
/** Length and checksum, before each chunk. The header of an empty chunk is the trailer. */
export const CHUNK_HEADER_BYTES = 8;
/** A longer chunk was never written: its length is damaged, and must not fill the memory. */
export const CHUNK_BYTES_MAX = 2 ** 24;

const MAGIC = Buffer.from('SLUICSNP', 'latin1');
const VERSION = 1;
const CHECKSUM_OFFSET = SNAPSHOT_HEADER_BYTES - 4;

export type SnapshotHeaderReading =
  | { readonly kind: 'valid'; readonly header: SnapshotHeader; readonly checksum: number }
  | { readonly kind: 'invalid'; readonly finding: string };

export function encodeSnapshotHeader({ position, schema, hash }: SnapshotHeader): Buffer {
  const target = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  target.set(MAGIC, 0);
  target.writeUInt32LE(VERSION, 8);
  target.writeUInt32LE(schema, 12);
  target.writeDoubleLE(position, 16);
  target.writeDoubleLE(hash, 24);
  target.writeUInt32LE(crc32(target.subarray(0, CHECKSUM_OFFSET)), CHECKSUM_OFFSET);
  return target;
}

export function decodeSnapshotHeader(bytes: Buffer): SnapshotHeaderReading {
  if (bytes.length < SNAPSHOT_HEADER_BYTES) return invalid('it has no header');
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return invalid('it is not a snapshot');
  const checksum = crc32(bytes.subarray(0, CHECKSUM_OFFSET));
  if (checksum !== bytes.readUInt32LE(CHECKSUM_OFFSET)) return invalid('its header is damaged');
  const version = bytes.readUInt32LE(8);
  if (version !== VERSION) return invalid(`its format version ${version} is unknown`);
  const header: SnapshotHeader = {
    schema: bytes.readUInt32LE(12),
    position: bytes.readDoubleLE(16),
    hash: bytes.readDoubleLE(24),
  };
  return { kind: 'valid', header, checksum };
}

/** The header of a chunk, or the trailer. The next checksum continues from the one in it. */
export function encodeChunkHeader(chunk: Uint8Array, previous: number): Buffer {
  const target = Buffer.alloc(CHUNK_HEADER_BYTES);
  target.writeUInt32LE(chunk.length, 0);
  target.writeUInt32LE(chunkChecksum(target, chunk, previous), 4);
  return target;
}

export function chunkChecksum(header: Buffer, chunk: Uint8Array, previous: number): number {
  return crc32(chunk, crc32(header.subarray(0, 4), previous));
}

function invalid(finding: string): SnapshotHeaderReading {
  return { kind: 'invalid', finding };
}
