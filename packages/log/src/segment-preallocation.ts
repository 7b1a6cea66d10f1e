import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAll } from './write-all.ts';

const NEXT_FILE = 'next.tmp';
const OVERSIZE_FILE = 'oversize.tmp';
const ZEROS = Buffer.alloc(2 ** 18);

/** A file of zeros, durable except for its name, that waits to become a segment. */
export interface BlankFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Keeps one blank file ahead of the log, so that a segment that is full is followed by the next
 * without a wait for tens of megabytes of zeros.
 *
 * The zeros are really written. A sparse file would make every append allocate blocks and change
 * the file's metadata, which costs more than the append itself.
 */
export class BlankFileSupply {
  readonly #folder: string;
  readonly #segmentBytes: number;
  /** The file that is ready or under way. Undefined when none was asked for. */
  #next: Promise<BlankFile> | undefined;
  /** True while `take` waits for a file: then haste is worth more than the calm of appends. */
  #urgent = false;
  /** Set once by `discard`; a preparation under way looks at it between two chunks. */
  #discarded = false;

  constructor(folder: string, segmentBytes: number) {
    this.#folder = folder;
    this.#segmentBytes = segmentBytes;
  }

  /** Removes what a process that died left behind. Nothing in these files was ever committed. */
  async removeLeftovers(): Promise<void> {
    for (const file of [NEXT_FILE, OVERSIZE_FILE]) {
      await rm(join(this.#folder, file), { force: true });
    }
  }

  /** Starts on the next file in the background, unless there is one already. */
  prepare(): void {
    if (this.#next !== undefined) return;
    this.#next = this.#create(NEXT_FILE, this.#segmentBytes);
    // A failure shows itself to `take`: until then the segment in use may still have room.
    this.#next.catch(() => {});
  }

  /** A blank file of at least `bytesMin`, which then belongs to the caller. */
  async take(bytesMin: number): Promise<BlankFile> {
    this.#urgent = true;
    try {
      if (bytesMin > this.#segmentBytes) return await this.#create(OVERSIZE_FILE, bytesMin);
      this.prepare();
      const file = await this.#next!;
      this.#next = undefined;
      return file;
    } finally {
      this.#urgent = false;
    }
  }

  /** Ends a preparation that is under way and removes its file. */
  async discard(): Promise<void> {
    this.#discarded = true;
    // How the preparation ended does not matter: its file goes in any case.
    await this.#next?.catch(() => {});
    await this.removeLeftovers();
  }

  async #create(file: string, bytes: number): Promise<BlankFile> {
    const path = join(this.#folder, file);
    const handle = await open(path, 'w', 0o600);
    try {
      // With the final size set at once, the syncs below need not record a new size each time.
      await handle.truncate(bytes);
      let written = 0;
      while (written < bytes && !this.#discarded) {
        const length = Math.min(ZEROS.length, bytes - written);
        await writeAll({ descriptor: handle.fd, buffer: ZEROS, length, position: written });
        written += length;
        // In small portions, because appends wait behind whatever the disk has been given: with 32
        // MiB in one go the slowest in a thousand took 8 to 15 ms, with these 2 to 3 ms.
        if (!this.#urgent) await handle.datasync();
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { path, bytes };
  }
}
