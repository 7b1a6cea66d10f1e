import { join } from 'node:path';
import type { LogBatch } from '../contract/partition-log.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { writeAll } from '../disk/write-all.ts';
import {
  encodeFrame,
  encodeSegmentHeader,
  frameBytesFor,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './segment-format.ts';
import { formatSegmentName } from './segment-name.ts';
import type { Segment } from './segment-reader.ts';
import type { SpareFile } from './segment-supply.ts';

/**
 * A larger frame gets a temporary buffer, so that one large batch does not keep its memory for
 * ever.
 */
const KEPT_BUFFER_BYTES_MAX = 2 ** 20;

export interface NewSegment {
  readonly disk: Disk;
  readonly folder: string;
  readonly header: SegmentHeader;
  readonly spare: SpareFile;
}

/** The last segment of a log, open for appends. */
export class SegmentWriter {
  readonly segment: Segment;
  readonly #file: DiskFile;
  #frameBuffer = Buffer.allocUnsafeSlow(2 ** 16);

  private constructor(segment: Segment, file: DiskFile) {
    this.segment = segment;
    this.#file = file;
  }

  /**
   * Turns a spare file into the next segment of the log and resolves once that is durable.
   *
   * The header is written before the name (recovery.header-first). A segment of the same name is
   * replaced; it can only be one without a batch.
   */
  static async create({ disk, folder, header, spare }: NewSegment): Promise<SegmentWriter> {
    const path = join(folder, formatSegmentName(header));
    const file = await disk.open(spare.path, 'durable');
    try {
      const buffer = encodeSegmentHeader(header);
      await writeAll(file, { buffer, length: buffer.length, position: 0 });
      await disk.rename(spare.path, path);
      await disk.syncFolder(folder);
    } catch (error) {
      await file.close();
      throw error;
    }
    const usedBytes = SEGMENT_HEADER_BYTES;
    const segment = { path, header, usedBytes, fileBytes: spare.bytes, isTrimmed: false };
    return new SegmentWriter(segment, file);
  }

  hasRoomFor(payloadBytes: number): boolean {
    return this.segment.usedBytes + frameBytesFor(payloadBytes) <= this.segment.fileBytes;
  }

  /**
   * Resolves once the batch is durable. The batch is copied next to its header, because one write
   * from one buffer is faster than a gathering write of two, by 10 % for 512 bytes and for 20 KB.
   */
  async append(batch: LogBatch): Promise<void> {
    const buffer = this.#bufferFor(frameBytesFor(batch.bytes.length));
    const length = encodeFrame(buffer, this.segment.header.segmentId, batch);
    const position = this.segment.usedBytes;
    await writeAll(this.#file, { buffer, length, position });
    this.segment.usedBytes += length;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #bufferFor(bytes: number): Buffer {
    if (bytes <= this.#frameBuffer.length) return this.#frameBuffer;
    const buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    if (buffer.length <= KEPT_BUFFER_BYTES_MAX) this.#frameBuffer = buffer;
    return buffer;
  }
}
