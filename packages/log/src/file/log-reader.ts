import { join } from 'node:path';
import { LogCorruptError, LogTrimmedError } from '../contract/log-errors.ts';
import type { OnBatch } from '../contract/partition-log.ts';
import type { Disk } from '../disk/disk.ts';
import { FileLoader } from '../disk/file-loader.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { parseSegmentName } from '../segments/segment-name.ts';
import {
  readExtents,
  type Segment,
  type SegmentExtent,
  scanFrames,
} from '../segments/segment-reader.ts';
import { damagedHeader, readHeader } from '../segments/segment-recovery.ts';

/** The batches to read, and their receiver. */
export interface CommittedRange {
  readonly from: number;
  /** The end of a batch, not past what the holder of the log knows to be committed. */
  readonly upTo: number;
  readonly onBatch: OnBatch;
}

/**
 * Reads the log in a folder that another thread or process holds, and changes nothing there.
 *
 * The folder does not show how far the log is committed: behind the last batch there may be a torn
 * one, and the holder may be writing the next. So the holder says how far to read, and trims
 * nothing from `from` on until the read has ended.
 */
export async function readLogFolder(
  folder: string,
  range: CommittedRange,
  disk: Disk = nodeDisk,
): Promise<void> {
  const { from, upTo, onBatch } = range;
  const segments = await segmentsBefore(disk, folder, upTo);
  const first = segments.at(0)?.header.baseTail ?? upTo;
  if (from < first) throw new LogTrimmedError(from, first);
  const extents: SegmentExtent[] = segments.map((segment, index) => ({
    segment,
    usedBytes: segment.fileBytes,
    endRecord: segments.at(index + 1)?.header.baseTail ?? upTo,
  }));
  await readExtents(disk, extents, { from, onBatch, first: () => first });
}

/**
 * The same for a reader that does not know how far the log is committed: reads from `from` on, up
 * to the last complete batch. The newest batches may not be durable.
 */
export async function peekLogFolder(
  folder: string,
  { from, onBatch }: Omit<CommittedRange, 'upTo'>,
  disk: Disk = nodeDisk,
): Promise<void> {
  const segments = await segmentsBefore(disk, folder, Number.POSITIVE_INFINITY);
  const loader = new FileLoader(disk);
  for (const [index, { path, header, fileBytes }] of segments.entries()) {
    const endRecord = segments.at(index + 1)?.header.baseTail ?? Number.POSITIVE_INFINITY;
    if (endRecord <= from) continue;
    const bytes = await loader.load(path, fileBytes);
    const end = scanFrames(bytes, header, endRecord, (frame) =>
      frame.firstRecord + frame.recordCount > from ? onBatch(frame) : undefined,
    );
    if (end.isEnough) return;
    if (end.record !== endRecord && index < segments.length - 1) {
      const position = { file: path, offset: end.offset, record: end.record };
      throw new LogCorruptError(position, 'a committed batch is damaged');
    }
  }
}

/** A segment that begins later may be in the making right now; it is ignored. */
async function segmentsBefore(disk: Disk, folder: string, upTo: number): Promise<Segment[]> {
  const files = (await disk.list(folder)).filter((file) => {
    const name = parseSegmentName(file);
    return name !== undefined && name.baseTail < upTo;
  });
  const loader = new FileLoader(disk);
  const segments: Segment[] = [];
  for (const file of files.sort()) {
    const path = join(folder, file);
    const segment = await readHeader(loader, path);
    if (segment === undefined) throw damagedHeader(path);
    segments.push(segment);
  }
  return segments;
}
