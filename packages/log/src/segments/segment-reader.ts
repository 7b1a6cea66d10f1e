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

/** A segment of the log and how much of its file counts. */
export interface Segment {
  readonly path: string;
  readonly header: SegmentHeader;
  /** Header and committed frames. Only the writer of the last segment moves it on. */
  usedBytes: number;
  /** The size of the file, with what lies behind the frames. A new epoch cuts it. */
  fileBytes: number;
  /** Set for good before the file goes: a read that comes too late knows why. */
  isTrimmed: boolean;
}

/** What a read hands out, and to whom. */
export interface ReadOrder {
  readonly from: number;
  readonly onBatch: OnBatch;
  /** The first record that the log holds by now, for a read that a trim overtook. */
  readonly first: () => number;
}

/** The committed records of a segment at the moment when a read began. */
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
  /** Whether it stopped there because that was enough. */
  readonly isEnough: boolean;
}

export function hasBatches(segment: Segment): boolean {
  return segment.usedBytes > SEGMENT_HEADER_BYTES;
}

/**
 * Walks the frames of one segment up to `endRecord` and stops before the first that is damaged or
 * out of order, and behind one that is enough. What such a stop means is for the caller to say.
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
 * Hands out the batches of the extents from record `from` on, one segment in memory at a time.
 * Checksums are verified again: the disk may have changed since the log was opened.
 */
export async function readExtents(
  disk: Disk,
  extents: readonly SegmentExtent[],
  { from, onBatch, first }: ReadOrder,
): Promise<void> {
  const loader = new FileLoader(disk);
  for (const { segment, usedBytes, endRecord } of extents) {
    // An empty segment is passed over unopened, because its file may be gone by now.
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
