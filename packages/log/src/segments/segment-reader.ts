import { LogCorruptError, LogTrimmedError } from '../contract/log-errors.ts';
import { type OnBatch, STOP_READING } from '../contract/partition-log.ts';
import type { Disk } from '../disk/disk.ts';
import { FileLoader } from '../disk/file-loader.ts';
import {
  decodeFrame,
  type Frame,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './segment-format.ts';

/** A segment of the log, and how much of its file is valid. */
export interface Segment {
  readonly path: string;
  readonly header: SegmentHeader;
  /**
   * Size of the header and the committed frames. Only the writer of the last segment changes it.
   */
  usedBytes: number;
  /** The size of the file, including what lies behind the frames. A new epoch truncates it. */
  fileBytes: number;
  /**
   * Set before the file is removed and never cleared, so that a late read knows why the file is
   * missing.
   */
  isTrimmed: boolean;
}

/** The batches of a read, and their receiver. */
export interface ReadOrder {
  readonly from: number;
  readonly onBatch: OnBatch;
  /** The first record that the log holds now, for a read that a trim overtook. */
  readonly first: () => number;
}

/** The committed records of a segment at the start of a read. */
export interface SegmentExtent {
  readonly segment: Segment;
  readonly usedBytes: number;
  /** The number of the first record that is not in this segment. */
  readonly endRecord: number;
}

/** Where a scan stopped. */
export interface ScanEnd {
  readonly offset: number;
  readonly record: number;
  /** Whether it stopped because `onFrame` asked it to. */
  readonly isEnough: boolean;
}

export function hasBatches(segment: Segment): boolean {
  return segment.usedBytes > SEGMENT_HEADER_BYTES;
}

/**
 * Walks the frames of one segment up to `endRecord`. Stops before the first frame that is damaged
 * or out of order, and after a frame at which `onFrame` stops it. The caller decides what such a
 * stop means.
 */
export function scanFrames(
  bytes: Buffer,
  header: SegmentHeader,
  endRecord: number,
  onFrame: (frame: Frame) => unknown,
): ScanEnd {
  let offset = SEGMENT_HEADER_BYTES;
  let record = header.baseTail;
  while (record < endRecord) {
    const frame = decodeFrame(bytes, offset, header);
    if (frame === undefined || frame.firstRecord !== record || frame.recordCount < 1) break;
    const answer = onFrame(frame);
    offset += frame.frameBytes;
    record += frame.recordCount;
    if (answer === STOP_READING) return { offset, record, isEnough: true };
  }
  return { offset, record, isEnough: false };
}

/**
 * Passes on the batches of the extents from record `from` on, one segment in memory at a time.
 * Checksums are verified again: the disk may have changed since the log was opened.
 */
export async function readExtents(
  disk: Disk,
  extents: readonly SegmentExtent[],
  { from, onBatch, first }: ReadOrder,
): Promise<void> {
  const loader = new FileLoader(disk);
  for (const { segment, usedBytes, endRecord } of extents) {
    // An empty segment is skipped unopened, because its file may be gone by now.
    if (endRecord <= from || endRecord === segment.header.baseTail) continue;

    const bytes = await loadUnlessTrimmed(loader, segment, usedBytes);
    const end = scanFrames(bytes, segment.header, endRecord, (frame) =>
      frame.firstRecord + frame.recordCount > from ? onBatch(frame) : undefined,
    );
    if (end.isEnough) return;
    if (end.record !== endRecord) {
      if (segment.isTrimmed) throw new LogTrimmedError(end.record, first());
      const position = { file: segment.path, offset: end.offset, record: end.record };
      throw new LogCorruptError(position, 'a committed batch is damaged');
    }
  }
}

async function loadUnlessTrimmed(
  loader: FileLoader,
  segment: Segment,
  usedBytes: number,
): Promise<Buffer> {
  try {
    return await loader.load(segment.path, usedBytes);
  } catch (error) {
    if (!segment.isTrimmed) throw error;
    return Buffer.alloc(0);
  }
}
