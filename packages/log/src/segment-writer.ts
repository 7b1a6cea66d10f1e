import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from './durable-folder.ts';
import type { LogBatch } from './partition-log.ts';
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
import { type WriteFunction, writeAll } from './write-all.ts';

/** A larger frame gets a buffer of its own, so that one large batch pins no memory for good. */
const KEPT_BUFFER_BYTES_MAX = 2 ** 20;

/**
 * O_DSYNC makes each write durable before it answers. Measured against write + fdatasync, with the
 * same guarantee: one visit to the thread pool instead of two, 100 µs of CPU against 160, and
 * 0.17 ms against 0.22.
 */
const OPEN_FLAGS = constants.O_WRONLY | constants.O_DSYNC;

export interface NewSegment {
  readonly folder: string;
  readonly header: SegmentHeader;
  readonly spare: SpareFile;
  readonly write: WriteFunction;
}

/** The last segment of a log, open for appends. */
export class SegmentWriter {
  readonly segment: Segment;
  readonly #handle: FileHandle;
  readonly #write: WriteFunction;
  #frameBuffer = Buffer.allocUnsafeSlow(2 ** 16);

  private constructor(segment: Segment, handle: FileHandle, write: WriteFunction) {
    this.segment = segment;
    this.#handle = handle;
    this.#write = write;
  }

  /**
   * Turns a spare file into the next segment of the log and answers once that is durable.
   *
   * The header comes before the name (R3). A segment of the same name is replaced; it can only be
   * one without a batch.
   */
  static async create({ folder, header, spare, write }: NewSegment): Promise<SegmentWriter> {
    const path = join(folder, formatSegmentName(header));
    const handle = await open(spare.path, OPEN_FLAGS);
    try {
      const buffer = encodeSegmentHeader(header);
      const order = { descriptor: handle.fd, buffer, length: buffer.length, position: 0 };
      await writeAll(order, write);
      await rename(spare.path, path);
      await syncFolder(folder);
    } catch (error) {
      await handle.close();
      throw error;
    }
    const usedBytes = SEGMENT_HEADER_BYTES;
    const segment = { path, header, usedBytes, fileBytes: spare.bytes, isTrimmed: false };
    return new SegmentWriter(segment, handle, write);
  }

  hasRoomFor(payloadBytes: number): boolean {
    return this.segment.usedBytes + frameBytesFor(payloadBytes) <= this.segment.fileBytes;
  }

  /**
   * Answers once the batch is durable. The batch is copied next to its header, because one write
   * from one buffer is faster than a gathering write of two, by 10 % for 512 bytes and for 20 KB.
   */
  async append(batch: LogBatch): Promise<void> {
    const buffer = this.#bufferFor(frameBytesFor(batch.bytes.length));
    const length = encodeFrame(buffer, this.segment.header.segmentId, batch);
    const position = this.segment.usedBytes;
    await writeAll({ descriptor: this.#handle.fd, buffer, length, position }, this.#write);
    this.segment.usedBytes += length;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #bufferFor(bytes: number): Buffer {
    if (bytes <= this.#frameBuffer.length) return this.#frameBuffer;
    const buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    if (buffer.length <= KEPT_BUFFER_BYTES_MAX) this.#frameBuffer = buffer;
    return buffer;
  }
}
