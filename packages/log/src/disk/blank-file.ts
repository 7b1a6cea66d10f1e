import type { Disk } from './disk.ts';
import { writeAll } from './write-all.ts';

const ZEROS = Buffer.alloc(2 ** 18);

export interface BlankFileOrder {
  readonly path: string;
  readonly bytes: number;
  /** True while a caller waits for the file: then speed matters more than smooth appends. */
  readonly isUrgent: () => boolean;
  /** Checked between two chunks; a file that is no longer wanted stays half-made. */
  readonly isUnwanted: () => boolean;
}

/**
 * Makes a file of zeros that is durable except for its name; returns whether it was completed.
 *
 * The zeros are really written. A sparse file would make every append allocate blocks and change
 * the file's metadata, which costs more than the append itself, and could fail on a full disk.
 */
export async function makeBlankFile(disk: Disk, order: BlankFileOrder): Promise<boolean> {
  const { path, bytes } = order;
  const file = await disk.open(path, 'create');
  try {
    // With the final size set at once, the syncs below need not record a new size each time.
    await disk.truncate(path, bytes);
    let written = 0;
    while (written < bytes) {
      if (order.isUnwanted()) return false;
      const length = Math.min(ZEROS.length, bytes - written);
      await writeAll(file, { buffer: ZEROS, length, position: written });
      written += length;
      // Written in small portions, because appends wait behind other writes to the disk: with 32
      // MiB at once the slowest append in a thousand took 8 to 15 ms, with these 2 to 3 ms.
      if (!order.isUrgent()) await file.sync();
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}
