import type { Disk, DiskFile } from './disk.ts';

/** Reads files into one buffer, which is reused for the next file. */
export class FileLoader {
  readonly disk: Disk;
  #memory = Buffer.alloc(0);

  constructor(disk: Disk) {
    this.disk = disk;
  }

  /** Up to `bytes` from the start of a file; valid until the next call. */
  async load(path: string, bytes: number): Promise<Buffer> {
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(bytes);
    const target = this.#memory.subarray(0, bytes);
    const file = await this.disk.open(path, 'read');
    try {
      return target.subarray(0, await fill(file, target));
    } finally {
      await file.close();
    }
  }
}

/** Returns how many bytes the file had. */
async function fill(file: DiskFile, target: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < target.length) {
    const count = await file.read(target.subarray(filled), filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
