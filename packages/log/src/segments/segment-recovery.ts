/**
 * Determines what a folder of segments holds, however the process that wrote it ended.
 *
 * Invariants:
 * recovery.one-torn-batch: One append is outstanding at a time, so that a crash damages at most the
 *   last batch of the last segment. Damage anywhere else is corruption and stops recovery.
 * recovery.no-repair: Nothing is repaired in place. A torn tail stays where it is. The header of
 *   the next epoch's segment says where the log continues, and no reader goes past that point in an
 *   older one.
 * recovery.header-first: A header is durable before its segment gets its name. Only a disk that
 *   breaks that promise can show a named segment without a header. Such a segment is forgotten when
 *   it is blank. In a reused file it is impossible to tell what is missing, and recovery stops.
 * recovery.durable-result: What recovery returns is durable, names and bytes, even if the previous
 *   process did not see that, or saw its last write fail.
 * recovery.trimmed-start: A trimmed log starts with the first segment that is left. Trimming starts
 *   with the oldest and never removes the last one: a gap between two segments is corruption, and
 *   so is a last segment without a header when nothing else tells the tail.
 */
import { basename, dirname, join } from 'node:path';
import { LogCorruptError, LogFormatError } from '../contract/log-errors.ts';
import type { LastBatch } from '../contract/partition-log.ts';
import type { Disk } from '../disk/disk.ts';
import { FileLoader } from '../disk/file-loader.ts';
import { writeAll } from '../disk/write-all.ts';
import { decodeSegmentHeader, findFrame, SEGMENT_HEADER_BYTES } from './segment-format.ts';
import { parseSegmentName } from './segment-name.ts';
import { type Segment, scanFrames } from './segment-reader.ts';

/** Embedded Sluice runs one partition; the header contains its number for later versions. */
export const PARTITION = 0;

export interface RecoveredLog {
  readonly segments: Segment[];
  /** The epoch of the last holder; 0 when there was none. */
  readonly epoch: number;
  readonly tail: number;
  readonly lastBatch: LastBatch | undefined;
}

/** The place of a segment's last batch in its bytes; a length of 0 means that there is none. */
interface LastFrame {
  readonly bytes: Buffer;
  readonly lastFrameBytes: number;
  readonly end: number;
}

interface Headers {
  readonly segments: Segment[];
  /** The name of the last segment when its header was never written (recovery.header-first). */
  readonly headless: string | undefined;
}

export async function recoverSegments(disk: Disk, folder: string): Promise<RecoveredLog> {
  const loader = new FileLoader(disk);
  // The names left by a killed process may be only in the page cache. A spare that may yet turn
  // back into a segment must not be written to (spares.old-name-gone).
  await disk.syncFolder(folder);
  const { segments, headless } = await readHeaders(loader, folder);
  let tail = segments.at(0)?.header.baseTail ?? 0;
  let lastBatch: LastBatch | undefined;

  for (const [index, segment] of segments.entries()) {
    refuseGap(segment, tail);
    const bytes = await loader.load(segment.path, segment.fileBytes);
    const next = segments.at(index + 1);
    const endRecord = next?.header.baseTail ?? Number.POSITIVE_INFINITY;
    let lastFrameBytes = 0;
    const end = scanFrames(bytes, segment.header, endRecord, (frame) => {
      lastBatch = { nonce: frame.nonce, firstRecord: frame.firstRecord };
      lastFrameBytes = frame.frameBytes;
    });
    const position = { file: segment.path, offset: end.offset, record: end.record };
    if (next !== undefined && end.record !== endRecord) {
      throw new LogCorruptError(position, `records up to ${endRecord} are damaged or missing`);
    }
    if (next === undefined) {
      refuseFrameBehind(bytes, segment, position);
      await makeDurable(disk, segment.path, { bytes, lastFrameBytes, end: end.offset });
    }
    segment.usedBytes = end.offset;
    tail = end.record;
  }

  if (headless !== undefined) await removeHeadless(disk, join(folder, headless), tail);
  return { segments, epoch: segments.at(-1)?.header.epoch ?? 0, tail, lastBatch };
}

/** The segments in the order of the log, with verified headers; frames are not verified yet. */
async function readHeaders(loader: FileLoader, folder: string): Promise<Headers> {
  const files = (await loader.disk.list(folder)).filter(
    (file) => parseSegmentName(file) !== undefined,
  );
  files.sort();
  const segments: Segment[] = [];
  for (const [index, file] of files.entries()) {
    const path = join(folder, file);
    const segment = await readHeader(loader, path);
    if (segment !== undefined) {
      refuseEpochGoingBack(segment, segments.at(-1));
      segments.push(segment);
      continue;
    }

    const { bytes } = await loader.disk.stat(path);
    const content = await loader.load(path, bytes);
    const blank = content.subarray(SEGMENT_HEADER_BYTES).every((byte) => byte === 0);
    if (index < files.length - 1 || !blank) throw damagedHeader(path);
    return { segments, headless: file };
  }
  return { segments, headless: undefined };
}

/**
 * Forgets a blank segment, unless its name shows that records are missing (recovery.trimmed-start).
 */
async function removeHeadless(disk: Disk, path: string, tail: number): Promise<void> {
  if (parseSegmentName(basename(path))!.baseTail !== tail) throw damagedHeader(path);
  // The removal is made durable: the segment must not come back in front of a later one.
  await disk.remove(path);
  await disk.syncFolder(dirname(path));
}

export function damagedHeader(path: string): LogCorruptError {
  const record = parseSegmentName(basename(path))!.baseTail;
  return new LogCorruptError({ file: path, offset: 0, record }, "the segment's header is damaged");
}

/** Undefined when the file has no valid header. */
export async function readHeader(loader: FileLoader, path: string): Promise<Segment | undefined> {
  const reading = decodeSegmentHeader(await loader.load(path, SEGMENT_HEADER_BYTES));
  if (reading.kind === 'invalid') return undefined;
  if (reading.kind === 'unknown_version') {
    const { version } = reading;
    const finding = `its format version ${version} is unknown; use the Sluice that wrote it`;
    throw new LogFormatError(path, finding);
  }
  const { header } = reading;
  if (header.partition !== PARTITION) {
    throw new LogFormatError(path, `it belongs to partition ${header.partition}, not ${PARTITION}`);
  }
  const name = parseSegmentName(basename(path));
  if (name?.baseTail !== header.baseTail || name.epoch !== header.epoch) {
    const position = { file: path, offset: 0, record: header.baseTail };
    throw new LogCorruptError(position, "the segment's name and header do not agree");
  }
  const { bytes: fileBytes } = await loader.disk.stat(path);
  return { path, header, usedBytes: SEGMENT_HEADER_BYTES, fileBytes, isTrimmed: false };
}

function refuseEpochGoingBack(segment: Segment, previous: Segment | undefined): void {
  if (previous === undefined || segment.header.epoch >= previous.header.epoch) return;
  const position = { file: segment.path, offset: 0, record: segment.header.baseTail };
  throw new LogCorruptError(
    position,
    `its epoch ${segment.header.epoch} is lower than the ${previous.header.epoch} before it`,
  );
}

function refuseGap(segment: Segment, tail: number): void {
  const { baseTail } = segment.header;
  if (baseTail === tail) return;
  const position = { file: segment.path, offset: 0, record: tail };
  throw new LogCorruptError(position, `records ${tail} to ${baseTail - 1} are missing before it`);
}

/**
 * A torn tail has nothing behind it (recovery.one-torn-batch). A valid frame there means that
 * records in between are lost.
 */
function refuseFrameBehind(
  bytes: Buffer,
  segment: Segment,
  position: { file: string; offset: number; record: number },
): void {
  const behind = findFrame(bytes, position, segment.header);
  if (behind === undefined) return;
  throw new LogCorruptError(
    position,
    `a batch is damaged, and a valid one follows at byte ${behind}`,
  );
}

/**
 * A killed process may have left its last batch only in the page cache. The next segment will say
 * that the log continues after that batch, so the batch must not vanish any more
 * (recovery.durable-result).
 *
 * It is written again, because a sync is not enough: after a failed write the kernel marks the
 * pages as written, shows them to readers, and has nothing left to sync.
 */
async function makeDurable(disk: Disk, path: string, last: LastFrame): Promise<void> {
  const { bytes, lastFrameBytes: length, end } = last;
  if (length === 0) return;
  const position = end - length;
  const file = await disk.open(path, 'durable');
  try {
    await writeAll(file, { buffer: bytes.subarray(position, end), length, position });
  } finally {
    await file.close();
  }
}
