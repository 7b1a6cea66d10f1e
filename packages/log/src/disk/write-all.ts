import type { DiskFile } from './disk.ts';

export interface WriteOrder {
  readonly buffer: Uint8Array;
  /** Number of bytes to write from the buffer. */
  readonly length: number;
  /** Offset in the file. */
  readonly position: number;
}

/**
 * Writes everything, in as many writes as needed: a nearly full disk accepts a part and reports
 * success. The first error ends it; the caller must not write to the file again.
 */
export function writeAll(file: Pick<DiskFile, 'write'>, order: WriteOrder): Promise<void> {
  return new Promise((resolve, reject) => {
    let written = 0;
    const writeRest = () => {
      const length = order.length - written;
      const range = { offset: written, length, position: order.position + written };
      file.write(order.buffer, range, (error, bytesWritten) => {
        if (error !== null) return reject(error);
        // A disk that accepts nothing without an error would make this loop endless.
        if (bytesWritten === 0) return reject(new Error(`0 of ${length} bytes were written`));
        written += bytesWritten;
        if (written < order.length) return writeRest();
        return resolve();
      });
    };
    writeRest();
  });
}
