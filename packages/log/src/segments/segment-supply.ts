/**
 * Keeps spare files ready for the log, so that a full segment is followed by the next without
 * waiting for tens of megabytes of zeros, and so that a full disk does not stop the log at once.
 *
 * Decided elsewhere: what is written into a spare. It may hold anything, zeros or the frames of the
 * segment that it once was; these are not taken for data (segment.frame-ids, segment.old-frames).
 *
 * Invariants:
 * - All blocks of a spare are allocated, and it is as large as a segment: writes into it need
 *   no room on the disk.
 * - A file becomes a spare by a rename, when it is complete, so that a spare left by a dead
 *   process is as good as any.
 * spares.old-name-gone: A segment that becomes a spare has durably lost its old name before it is
 *   written to.
 */
import { join } from 'node:path';
import { makeBlankFile } from '../disk/blank-file.ts';
import { type Disk, hasCode } from '../disk/disk.ts';
import { removeIfThere } from '../disk/durable-folder.ts';
import type { StartTimer } from '../disk/retry-timer.ts';

const NEXT_FILE = 'next.tmp';
const OVERSIZE_FILE = 'oversize.tmp';
const SPARE_PATTERN = /^(\d+)\.spare$/;

/** The next segment, and the reserve for a full disk. */
const PREPARED_COUNT = 2;
/**
 * Two more than are prepared: under a steady load, rollovers take from these while trims bring new
 * ones, and no zeros are written.
 */
const KEPT_COUNT_MAX = PREPARED_COUNT + 2;

const RETRY_DELAY_MS = 1000;

/** What the supply works on and with. */
export interface SegmentSupplyOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly segmentBytes: number;
  readonly startTimer: StartTimer;
}

/** A file that waits to become a segment. */
export interface SpareFile {
  readonly path: string;
  readonly bytes: number;
}

export class SegmentSupply {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #segmentBytes: number;
  readonly #startTimer: StartTimer;
  /** Complete spares, the oldest first. */
  readonly #spares: SpareFile[] = [];
  /** The number in the name of the latest spare. */
  #lastNumber = 0;
  /** The spare in preparation; never rejects. Undefined while there is none. */
  #preparing: Promise<void> | undefined;
  /** True from the moment when the disk had no room until all spares are ready again. */
  #isFull = false;
  /** Cancels the wait for the next try. Undefined unless the disk was full at the last one. */
  #cancelRetry: (() => void) | undefined;
  /** Why a preparation failed for a reason other than a full disk; then `take` fails too. */
  #failure: { readonly cause: unknown } | undefined;
  /** True while `take` waits for a file. */
  #isUrgent = false;
  /** Set once by `close`. */
  #isClosed = false;

  constructor({ disk, folder, segmentBytes, startTimer }: SegmentSupplyOptions) {
    this.#disk = disk;
    this.#folder = folder;
    this.#segmentBytes = segmentBytes;
    this.#startTimer = startTimer;
  }

  /**
   * False after a failure: no more files are prepared, so room would never be found, and the next
   * `take` reports the failure. An engine that waits because of a full disk would not call `take`.
   */
  get isFull(): boolean {
    return this.#isFull && this.#failure === undefined;
  }

  /** Takes over the spares of the previous process and removes its unfinished files. */
  async open(): Promise<void> {
    await this.#removeHalfMade();
    for (const file of await this.#disk.list(this.#folder)) {
      const number = SPARE_PATTERN.exec(file)?.[1];
      if (number === undefined) continue;
      const path = join(this.#folder, file);
      const { bytes, allocatedBytes } = await this.#disk.stat(path);
      const isWhole = bytes === this.#segmentBytes && allocatedBytes >= bytes;
      if (isWhole && this.#spares.length < KEPT_COUNT_MAX) this.#spares.push({ path, bytes });
      else await this.#disk.remove(path);
      this.#lastNumber = Math.max(this.#lastNumber, Number(number));
    }
  }

  /**
   * Prepares missing spares in the background, one after the other. After a full disk, it waits for
   * the time of the next try.
   */
  prepare(): void {
    if (this.#spares.length >= PREPARED_COUNT) {
      this.#isFull = false;
      this.#endWait();
      return;
    }
    if (this.#preparing !== undefined || this.#cancelRetry !== undefined) return;
    if (this.#failure !== undefined || this.#isClosed) return;
    this.#preparing = this.#prepareOne();
  }

  /**
   * A file of at least `bytesMin`, which then belongs to the caller, or undefined when there is no
   * spare and the disk is full.
   */
  async take(bytesMin: number): Promise<SpareFile | undefined> {
    this.#isUrgent = true;
    try {
      const isOversize = bytesMin > this.#segmentBytes;
      if (!isOversize && this.#spares.length === 0) {
        this.prepare();
        await this.#preparing;
      }
      // A background failure is reported here: until now the current segment had room.
      if (this.#failure !== undefined) throw this.#failure.cause;
      return isOversize ? await this.#makeOversize(bytesMin) : this.#spares.shift();
    } finally {
      this.#isUrgent = false;
    }
  }

  /**
   * Removes a file from the log durably. It becomes a spare when one is wanted, which saves writing
   * zeros; otherwise it is deleted.
   */
  async recycle({ path, bytes }: SpareFile): Promise<void> {
    const count = this.#spares.length + (this.#preparing === undefined ? 0 : 1);
    if (bytes !== this.#segmentBytes || count >= KEPT_COUNT_MAX) {
      await this.#disk.remove(path);
      await this.#disk.syncFolder(this.#folder);
      return;
    }
    const spare = this.#nextSparePath();
    await this.#disk.rename(path, spare);
    await this.#disk.syncFolder(this.#folder);
    this.#spares.push({ path: spare, bytes });
    // Not earlier: further files from the same trim save writing zeros.
    if (this.#spares.length >= PREPARED_COUNT) this.prepare();
  }

  /** Ends a running preparation. Complete spares stay for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#preparing;
    this.#endWait();
    await this.#removeHalfMade();
  }

  async #prepareOne(): Promise<void> {
    const path = join(this.#folder, NEXT_FILE);
    try {
      if (await this.#makeBlank(path, this.#segmentBytes)) {
        const spare = this.#nextSparePath();
        await this.#disk.rename(path, spare);
        this.#spares.push({ path: spare, bytes: this.#segmentBytes });
      }
    } catch (cause) {
      await this.#giveUp(path, cause).catch((failure: unknown) => {
        this.#failure = { cause: failure };
      });
    }
    this.#preparing = undefined;
    this.prepare();
  }

  async #makeOversize(bytes: number): Promise<SpareFile | undefined> {
    const path = join(this.#folder, OVERSIZE_FILE);
    try {
      await this.#makeBlank(path, bytes);
      return { path, bytes };
    } catch (cause) {
      await this.#giveUp(path, cause);
      return undefined;
    }
  }

  /** Removes a file that did not fit; rethrows any other error. */
  async #giveUp(path: string, cause: unknown): Promise<void> {
    // The disk or the user's quota is full.
    if (!hasCode(cause, 'ENOSPC', 'EDQUOT')) throw cause;
    await removeIfThere(this.#disk, path);
    this.#isFull = true;
    this.#cancelRetry ??= this.#startTimer(RETRY_DELAY_MS, () => {
      this.#cancelRetry = undefined;
      this.prepare();
    });
  }

  #endWait(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  #makeBlank(path: string, bytes: number): Promise<boolean> {
    return makeBlankFile(this.#disk, {
      path,
      bytes,
      isUrgent: () => this.#isUrgent,
      isUnwanted: () => this.#isClosed,
    });
  }

  #nextSparePath(): string {
    this.#lastNumber += 1;
    return join(this.#folder, `${this.#lastNumber}.spare`);
  }

  /** Nothing in these files was ever committed. */
  async #removeHalfMade(): Promise<void> {
    for (const file of [NEXT_FILE, OVERSIZE_FILE]) {
      await removeIfThere(this.#disk, join(this.#folder, file));
    }
  }
}
