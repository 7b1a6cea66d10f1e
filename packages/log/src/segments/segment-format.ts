/**
 * The bytes of a segment: a header, then frames, then whatever the file held before, up to its
 * preallocated end.
 *
 * Decided elsewhere: which segments form a log and what a damaged one means. See
 * `segment-recovery.ts`.
 *
 * Invariants:
 * segment.aligned-frames: A frame starts at a multiple of 8 bytes and never crosses into another
 *   segment.
 * segment.full-checksum: A checksum covers every other byte of the header and of each frame,
 *   padding included, so every flipped bit is found.
 * segment.frame-ids: A frame repeats the random id of its segment. Bytes that only look like a
 *   frame, such as a payload that contains a copy of one, are not taken for one.
 * segment.old-frames: A reused file still holds the frames of an earlier segment. If the ids are
 *   the same by chance, epoch and record distinguish them: a frame of another epoch does not count,
 *   and within one epoch record numbers only grow, so that an old frame has a lower one than any
 *   that could follow.
 */
import { crc32 } from 'node:zlib';
import type { LogBatch } from '../contract/partition-log.ts';

export const SEGMENT_HEADER_BYTES = 64;

const SEGMENT_MAGIC = Buffer.from('SLUICLOG', 'latin1');
const SEGMENT_VERSION = 1;
const HEADER_CHECKSUM_OFFSET = SEGMENT_HEADER_BYTES - 4;

const FRAME_HEADER_BYTES = 40;
const FRAME_ALIGNMENT = 8;
const FRAME_MAGIC = Buffer.from('SLBF', 'latin1');
const FRAME_MAGIC_NUMBER = FRAME_MAGIC.readUInt32LE(0);
/** The checksum covers what follows the magic and the checksum itself. */
const FRAME_CHECKED_FROM = 8;

export interface SegmentHeader {
  readonly partition: number;
  readonly epoch: number;
  /** Number of records in the log before this segment: where the previous segment ends. */
  readonly baseTail: number;
  /** Random (segment.frame-ids). */
  readonly segmentId: number;
}

export type HeaderReading =
  | { readonly kind: 'valid'; readonly header: SegmentHeader }
  | { readonly kind: 'unknown_version'; readonly version: number }
  | { readonly kind: 'invalid' };

export interface Frame {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly epoch: number;
  readonly nonce: number;
  /** A view of the scanned memory. */
  readonly bytes: Uint8Array;
  /** The frame with its header and padding. */
  readonly frameBytes: number;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const target = Buffer.alloc(SEGMENT_HEADER_BYTES);
  target.set(SEGMENT_MAGIC, 0);
  target.writeUInt32LE(SEGMENT_VERSION, 8);
  target.writeUInt32LE(header.partition, 12);
  target.writeUInt32LE(header.epoch, 16);
  target.writeUInt32LE(header.segmentId, 20);
  target.writeDoubleLE(header.baseTail, 24);
  target.writeUInt32LE(crc32(target.subarray(0, HEADER_CHECKSUM_OFFSET)), HEADER_CHECKSUM_OFFSET);
  return target;
}

export function decodeSegmentHeader(bytes: Buffer): HeaderReading {
  if (bytes.length < SEGMENT_HEADER_BYTES) return { kind: 'invalid' };
  if (!bytes.subarray(0, SEGMENT_MAGIC.length).equals(SEGMENT_MAGIC)) return { kind: 'invalid' };

  const version = bytes.readUInt32LE(8);
  if (version !== SEGMENT_VERSION) {
    // A later version may keep its checksum elsewhere. Its segments must be refused, not treated as
    // damaged. A torn header shows version 0. A header that is valid except for its version is one
    // of ours, damaged.
    const repaired = Buffer.from(bytes.subarray(0, SEGMENT_HEADER_BYTES));
    repaired.writeUInt32LE(SEGMENT_VERSION, 8);
    if (version === 0 || hasChecksum(repaired)) return { kind: 'invalid' };
    return { kind: 'unknown_version', version };
  }
  if (!hasChecksum(bytes)) return { kind: 'invalid' };
  const header: SegmentHeader = {
    partition: bytes.readUInt32LE(12),
    epoch: bytes.readUInt32LE(16),
    segmentId: bytes.readUInt32LE(20),
    baseTail: bytes.readDoubleLE(24),
  };
  return { kind: 'valid', header };
}

function hasChecksum(header: Buffer): boolean {
  const checksum = crc32(header.subarray(0, HEADER_CHECKSUM_OFFSET));
  return checksum === header.readUInt32LE(HEADER_CHECKSUM_OFFSET);
}

/** The size of the frame around a payload (segment.aligned-frames). */
export function frameBytesFor(payloadBytes: number): number {
  const end = FRAME_HEADER_BYTES + payloadBytes;
  return end + ((FRAME_ALIGNMENT - (end % FRAME_ALIGNMENT)) % FRAME_ALIGNMENT);
}

/** Writes the frame at the start of `target`, which must have room for `frameBytesFor` bytes. */
export function encodeFrame(target: Buffer, segmentId: number, batch: LogBatch): number {
  const frameBytes = frameBytesFor(batch.bytes.length);
  target.writeUInt32LE(FRAME_MAGIC_NUMBER, 0);
  target.writeUInt32LE(batch.bytes.length, 8);
  target.writeUInt32LE(batch.recordCount, 12);
  target.writeUInt32LE(batch.epoch, 16);
  target.writeUInt32LE(segmentId, 20);
  target.writeDoubleLE(batch.nonce, 24);
  target.writeDoubleLE(batch.expectedTail, 32);
  target.set(batch.bytes, FRAME_HEADER_BYTES);
  target.fill(0, FRAME_HEADER_BYTES + batch.bytes.length, frameBytes);
  target.writeUInt32LE(crc32(target.subarray(FRAME_CHECKED_FROM, frameBytes)), 4);
  return frameBytes;
}

/** The frame at `offset`, or undefined when there is no valid frame of this segment there. */
export function decodeFrame(
  bytes: Buffer,
  offset: number,
  segment: SegmentHeader,
): Frame | undefined {
  if (offset + FRAME_HEADER_BYTES > bytes.length) return undefined;
  if (bytes.readUInt32LE(offset) !== FRAME_MAGIC_NUMBER) return undefined;
  if (bytes.readUInt32LE(offset + 16) !== segment.epoch) return undefined;
  if (bytes.readUInt32LE(offset + 20) !== segment.segmentId) return undefined;

  const payloadBytes = bytes.readUInt32LE(offset + 8);
  const frameBytes = frameBytesFor(payloadBytes);
  if (offset + frameBytes > bytes.length) return undefined;
  const checksum = crc32(bytes.subarray(offset + FRAME_CHECKED_FROM, offset + frameBytes));
  if (checksum !== bytes.readUInt32LE(offset + 4)) return undefined;

  const payloadOffset = offset + FRAME_HEADER_BYTES;
  return {
    firstRecord: bytes.readDoubleLE(offset + 32),
    recordCount: bytes.readUInt32LE(offset + 12),
    epoch: segment.epoch,
    nonce: bytes.readDoubleLE(offset + 24),
    bytes: bytes.subarray(payloadOffset, payloadOffset + payloadBytes),
    frameBytes,
  };
}

/**
 * The offset of the first valid frame at or behind `place.offset` whose records follow
 * `place.record` (segment.old-frames), or undefined when there is none.
 */
export function findFrame(
  bytes: Buffer,
  place: { readonly offset: number; readonly record: number },
  segment: SegmentHeader,
): number | undefined {
  let offset = bytes.indexOf(FRAME_MAGIC, place.offset);
  while (offset !== -1) {
    const aligned = offset % FRAME_ALIGNMENT === 0;
    const frame = aligned ? decodeFrame(bytes, offset, segment) : undefined;
    if (frame !== undefined && frame.firstRecord > place.record) return offset;
    offset = bytes.indexOf(FRAME_MAGIC, offset + 1);
  }
  return undefined;
}
