import { write } from 'node:fs';

/** The part of `fs.write` that the log uses; tests put a failing or short one in its place. */
export type WriteFunction = (
  descriptor: number,
  buffer: Buffer,
  range: { readonly offset: number; readonly length: number; readonly position: number },
  done: (error: NodeJS.ErrnoException | null, bytesWritten: number) => void,
) => void;

export interface WriteOrder {
  readonly descriptor: number;
  readonly buffer: Buffer;
  /** How many bytes of the buffer go out. */
  readonly length: number;
  /** Where in the file they go. */
  readonly position: number;
}

export const writeToFile: WriteFunction = (descriptor, buffer, range, done) => {
  write(descriptor, buffer, range.offset, range.length, range.position, done);
};

/**
 * Writes all that is ordered, however many writes that takes: a nearly full disk accepts a part and
 * reports success. The first error ends it; the caller must not write to the descriptor again.
 */
export function writeAll(order: WriteOrder, writeSome: WriteFunction = writeToFile): Promise<void> {
  return new Promise((resolve, reject) => {
    let written = 0;
    const writeRest = () => {
      const length = order.length - written;
      const range = { offset: written, length, position: order.position + written };
      writeSome(order.descriptor, order.buffer, range, (error, bytesWritten) => {
        if (error !== null) return reject(error);
        // A disk that takes nothing without an error would make this loop endless.
        if (bytesWritten === 0) return reject(new Error(`0 of ${length} bytes were written`));
        written += bytesWritten;
        if (written < order.length) return writeRest();
        return resolve();
      });
    };
    writeRest();
  });
}
