import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { FileLoader } from './file-loader.ts';
import { LogTrimmedError } from './log-errors.ts';
import { nodeDisk } from './node-disk.ts';
import type { OnBatch } from './partition-log.ts';
import { parseSegmentName } from './segment-name.ts';
import { readExtents, type Segment, type SegmentExtent } from './segment-reader.ts';
import { damagedHeader, readHeader } from './segment-recovery.ts';

/** Which batches are read, and who gets them. */
export interface CommittedRange {
  readonly from: number;
  /** The end of a batch, and not past what the holder of the log knows to be committed. */
  readonly upTo: number;
  readonly onBatch: OnBatch;
}

/**
 * Reads the log in a folder that another thread or process holds, and changes nothing there.
 *
 * The folder does not say how far the log is committed: behind the last batch there may be a torn
 * one, and the holder may be writing the next. So the holder says up to where to read, and trims
 * nothing from `from` on until the read is over.
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

/** A segment that begins later may be under way in this very moment; it is not looked at. */
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
