/**
 * Keeps spare files ahead of the log, so that a full segment is followed by the next without a wait
 * for tens of megabytes of zeros, and so that a full disk does not stop the log at once.
 *
 * Elsewhere: what is written into a spare. It may hold anything, zeros or the frames of the segment
 * that it once was; F3 and F4 see to it that nobody takes these for data.
 *
 * Invariants:
 * - S1: All blocks of a spare are allocated, and it is as large as a segment: writes into it need
 *   no room on the disk.
 * - S2: A file becomes a spare by a rename, when it is whole, so that a spare that a dead process
 *   left behind is as good as any.
 * - S3: A segment that becomes a spare has lost its old name for good before anybody writes to it.
 */
import { join } from 'node:path';
import { makeBlankFile } from '../disk/blank-file.ts';
import { type Disk, hasCode } from '../disk/disk.ts';
import { removeIfThere } from '../disk/durable-folder.ts';
import type { StartTimer } from '../disk/retry-timer.ts';

const NEXT_FILE = 'next.tmp';
const OVERSIZE_FILE = 'oversize.tmp';
const SPARE_PATTERN = /^(\d+)\.spare$/;

/** The next segment, and the reserve for the time when the disk is full. */
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
  /** Whole spares, the oldest first. */
  readonly #spares: SpareFile[] = [];
  /** The number in the name of the latest spare. */
  #lastNumber = 0;
  /** The spare that is under way; never rejects. Undefined while none is. */
  #preparing: Promise<void> | undefined;
  /** True from the moment when the disk had no room until all spares are there again. */
  #isFull = false;
  /** Ends the wait for the next try. Undefined unless the disk was full at the last one. */
  #cancelRetry: (() => void) | undefined;
  /** Why a preparation failed for another reason than a full disk; then `take` fails too. */
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
   * Not after a failure: nobody prepares any more, so room would never be found, and the failure is
   * told to whoever takes the next file. Who rests because of a full disk takes none.
   */
  get isFull(): boolean {
    return this.#isFull && this.#failure === undefined;
  }

  /** Takes over the spares of the process before and removes what it left half-made. */
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
   * Starts on the missing spares in the background, one after the other. A disk that was full is
   * left alone until the time of the next try.
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
      // A failure in the background is told here: until now the segment in use had room.
      if (this.#failure !== undefined) throw this.#failure.cause;
      return isOversize ? await this.#makeOversize(bytesMin) : this.#spares.shift();
    } finally {
      this.#isUrgent = false;
    }
  }

  /**
   * Takes a file out of the log for good: as a spare when one is wanted, which saves writing zeros,
   * and else by removing it.
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
    // No sooner: what else a trim brings saves the zeros.
    if (this.#spares.length >= PREPARED_COUNT) this.prepare();
  }

  /** Ends a preparation that is under way. Whole spares stay for the next start. */
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

  /** Gives back the room of a file for which there is not enough, or throws any other cause. */
  async #giveUp(path: string, cause: unknown): Promise<void> {
    // No room, or none for this user.
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
