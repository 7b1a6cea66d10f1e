import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { FolderInUseError, LogFailedError, LogFullError } from '../contract/log-errors.ts';
import {
  type AppendOutcome,
  type BoundedLog,
  checkBatch,
  checkReadFrom,
  checkTrim,
  judgeAppend,
  type LastBatch,
  type LogBatch,
  type LogExtent,
  type LogHold,
  type LogTrim,
  type OnBatch,
  overlappingAppend,
  type TrimOutcome,
} from '../contract/partition-log.ts';
import type { Disk, FolderLock } from '../disk/disk.ts';
import { ensureFolder } from '../disk/durable-folder.ts';
import { refuseNetworkFolder } from '../disk/network-folder.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import { type StartTimer, startRealTimer } from '../disk/retry-timer.ts';
import { frameBytesFor, SEGMENT_HEADER_BYTES } from '../segments/segment-format.ts';
import {
  hasBatches,
  readExtents,
  type Segment,
  type SegmentExtent,
} from '../segments/segment-reader.ts';
import { PARTITION, type RecoveredLog, recoverSegments } from '../segments/segment-recovery.ts';
import { SegmentSupply } from '../segments/segment-supply.ts';
import { SegmentWriter } from '../segments/segment-writer.ts';

/** An epoch that no batch has: during `acquire`, every append is fenced. */
const NO_EPOCH = -1;

export interface FileLogOptions {
  /** Created, for its owner only, when it does not exist. */
  readonly folder: string;
  /** The size to which segments are preallocated. A larger batch gets a larger segment. */
  readonly segmentBytes?: number;
  /** The number of the first record, if the folder has no segment yet. */
  readonly firstRecord?: number;
  /**
   * Also opens a folder on a network file system. There the lock does not keep other machines out,
   * and acknowledged data is only as durable as the remote server makes it.
   */
  readonly allowNetworkFolder?: boolean;
  /** The file system of the folder; the machine's own unless a test or a simulation has another. */
  readonly disk?: Disk;
  /** A random whole number below 2^32, which distinguishes segments. */
  readonly random?: () => number;
  /** Replaces `setTimeout` between two tries to get room. */
  readonly startTimer?: StartTimer;
}

const DEFAULTS = {
  allowNetworkFolder: false,
  firstRecord: 0,
  segmentBytes: 32 * 2 ** 20,
  disk: nodeDisk,
  random: () => randomInt(2 ** 32),
  startTimer: startRealTimer,
};

/** A file of the log, and how many of its bytes are committed. */
export interface CommittedFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of the log, protected from trims while they are copied. */
export interface HeldFiles {
  /** The current files, in the order of the log. Together they form a valid log. */
  committed(): readonly CommittedFile[];
  /** Allows trims again. */
  release(): void;
}

/**
 * The log of one partition in one folder of a local disk, for one process.
 *
 * `acquire` fences earlier holders of this object. Other processes are kept out by a lock that is
 * held from `open` to `close`. Each epoch begins a new segment, so that nothing is ever written
 * behind what a crash has left.
 */
export class FileLog implements BoundedLog {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #random: () => number;
  readonly #lock: FolderLock;
  readonly #supply: SegmentSupply;
  /**
   * In the order of the log; replaced, never changed in place, so that a running read keeps its
   * list.
   */
  #segments: Segment[];
  /** The epoch of the last holder, even if it no longer holds the log. */
  #latestEpoch: number;
  /** `NO_EPOCH` until the first `acquire`, and while one is running. */
  #currentEpoch = NO_EPOCH;
  #tail: number;
  /** Undefined while the log is empty. */
  #lastBatch: LastBatch | undefined;
  /** The writer of the last segment, from the first `acquire` on. */
  #writer: SegmentWriter | undefined;
  /** Undefined while no append is outstanding. */
  #appending: Promise<AppendOutcome> | undefined;
  /** The latest `acquire`; the next one waits for it. */
  #acquiring: Promise<unknown> = Promise.resolve();
  /** The latest `trim`; the next one, and the next `acquire`, wait for it. */
  #trimming: Promise<unknown> = Promise.resolve();
  /** Copies in progress: while there are any, trims remove nothing. */
  readonly #holders = new Set<HeldFiles>();
  /** Set by the first failure and never cleared. */
  #failure: LogFailedError | undefined;
  /** Set by the first `close`. */
  #closing: Promise<void> | undefined;

  private constructor(options: Required<FileLogOptions>, lock: FolderLock, log: RecoveredLog) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#random = options.random;
    this.#lock = lock;
    this.#supply = new SegmentSupply(options);
    this.#segments = log.segments;
    this.#latestEpoch = log.epoch;
    this.#tail = log.segments.length === 0 ? options.firstRecord : log.tail;
    this.#lastBatch = log.lastBatch;
  }

  /**
   * Locks the folder and recovers its contents.
   *
   * Rejects with `FolderInUseError`, with `NetworkFolderError`, with `LogCorruptError` when
   * committed records are damaged, and with `LogFormatError` when another version wrote them.
   */
  static async open(options: FileLogOptions): Promise<FileLog> {
    const complete = { ...DEFAULTS, ...options, folder: resolve(options.folder) };
    const { disk, folder } = complete;
    await ensureFolder(disk, folder);
    if (!complete.allowNetworkFolder) await refuseNetworkFolder(disk, folder);
    const lock = await disk.lock(folder);
    if ('holder' in lock) throw new FolderInUseError(folder, lock.holder);
    try {
      const recovered = await recoverSegments(disk, folder);
      const log = new FileLog(complete, lock, recovered);
      await log.#supply.open();
      return log;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  get isFull(): boolean {
    return this.#supply.isFull;
  }

  /** What the log holds. Until `acquire` nothing changes it, because the folder is locked. */
  get extent(): LogExtent {
    return { first: this.#first, tail: this.#tail };
  }

  async acquire(): Promise<LogHold> {
    this.#refuseIfEnded();
    this.#currentEpoch = NO_EPOCH;
    // A second call waits for the first, whatever its outcome: a failure shows in `#beginEpoch`.
    const previous = this.#acquiring.catch(() => {});
    const acquiring = previous.then(() => this.#beginEpoch());
    this.#acquiring = acquiring;
    return acquiring;
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    this.#refuseIfEnded();
    if (this.#appending !== undefined) throw overlappingAppend();
    checkBatch(batch);
    const verdict = judgeAppend(batch, {
      epoch: this.#currentEpoch,
      tail: this.#tail,
      lastBatch: this.#lastBatch,
    });
    if (verdict !== 'land') return verdict;

    this.#appending = this.#land(batch);
    try {
      return await this.#appending;
    } finally {
      this.#appending = undefined;
    }
  }

  async read(from: number, onBatch: OnBatch): Promise<void> {
    this.#refuseIfEnded();
    checkReadFrom(from, { first: this.#first, tail: this.#tail });
    const extents: SegmentExtent[] = this.#segments.map((segment, index) => ({
      segment,
      usedBytes: segment.usedBytes,
      endRecord: this.#segments.at(index + 1)?.header.baseTail ?? this.#tail,
    }));
    await readExtents(this.#disk, extents, { from, onBatch, first: () => this.#first });
  }

  async trim(trim: LogTrim): Promise<TrimOutcome> {
    this.#refuseIfEnded();
    const previous = this.#trimming.catch(() => {});
    const trimming = previous.then(() => this.#removeSegments(trim));
    this.#trimming = trimming;
    return trimming;
  }

  /** Keeps every file of the log in place until it is released. */
  hold(): HeldFiles {
    this.#refuseIfEnded();
    const held: HeldFiles = {
      committed: () => this.#segments.map(({ path, usedBytes }) => ({ path, bytes: usedBytes })),
      release: () => this.#holders.delete(held),
    };
    this.#holders.add(held);
    return held;
  }

  close(): Promise<void> {
    this.#closing ??= this.#letGoOfEverything();
    return this.#closing;
  }

  async #beginEpoch(): Promise<LogHold> {
    this.#currentEpoch = NO_EPOCH;
    // Fencing comes first: the batch of the earlier holder lands or fails before the tail is read.
    // The caller of that append gets its outcome; a failure has ended this log as well.
    await this.#appending?.catch(() => {});
    await this.#trimming.catch(() => {});
    if (this.#failure !== undefined) throw this.#failure;
    const epoch = this.#latestEpoch + 1;
    let hasBegun: boolean;
    try {
      hasBegun = await this.#beginSegment(epoch, 0);
      if (hasBegun) await this.#giveBackRoom();
    } catch (cause) {
      throw this.#fail(cause);
    }
    if (!hasBegun) throw new LogFullError(this.#folder);
    this.#latestEpoch = epoch;
    this.#currentEpoch = epoch;
    return { epoch, first: this.#first, tail: this.#tail };
  }

  async #land(batch: LogBatch): Promise<AppendOutcome> {
    try {
      if (!this.#writer!.hasRoomFor(batch.bytes.length)) {
        const hasBegun = await this.#beginSegment(batch.epoch, frameBytesFor(batch.bytes.length));
        if (!hasBegun) return 'full';
      }
      await this.#writer!.append(batch);
    } catch (cause) {
      throw this.#fail(cause);
    }
    this.#lastBatch = { nonce: batch.nonce, firstRecord: this.#tail };
    this.#tail += batch.recordCount;
    return 'ok';
  }

  /** Returns false, and changes nothing, when there is no room for another segment. */
  async #beginSegment(epoch: number, frameBytes: number): Promise<boolean> {
    const spare = await this.#supply.take(SEGMENT_HEADER_BYTES + frameBytes);
    if (spare === undefined) return false;
    const segmentId = this.#random();
    const header = { partition: PARTITION, epoch, baseTail: this.#tail, segmentId };
    const [disk, folder] = [this.#disk, this.#folder];
    const writer = await SegmentWriter.create({ disk, folder, header, spare });
    const before = this.#segments.filter(({ path }) => path !== writer.segment.path);
    this.#segments = [...before, writer.segment];
    await this.#writer?.close();
    this.#writer = writer;
    this.#supply.prepare();
    return true;
  }

  /**
   * Frees the space behind the last batch of every segment but the last, and recycles empty
   * segments. No reader goes there: the next segment says where the log continues
   * (recovery.no-repair).
   */
  async #giveBackRoom(): Promise<void> {
    const last = this.#segments.at(-1);
    for (const segment of this.#segments) {
      if (segment === last || segment.fileBytes === segment.usedBytes) continue;
      if (hasBatches(segment)) await this.#disk.truncate(segment.path, segment.usedBytes);
      else await this.#supply.recycle({ path: segment.path, bytes: segment.fileBytes });
      segment.fileBytes = segment.usedBytes;
    }
    this.#segments = this.#segments.filter((each) => each === last || hasBatches(each));
  }

  /**
   * Removes whole segments, oldest first, each durably before the next: a crash in between leaves a
   * log that starts earlier, never one with a gap. The segment being written always stays, because
   * it keeps the tail.
   */
  async #removeSegments(trim: LogTrim): Promise<TrimOutcome> {
    if (this.#failure !== undefined) throw this.#failure;
    if (trim.epoch !== this.#currentEpoch) return 'fenced';
    checkTrim(trim, this.#tail);
    try {
      for (;;) {
        const [oldest, next] = this.#segments;
        if (next === undefined || next.header.baseTail > trim.upTo) return 'ok';
        // The records may stay; a later trim removes them.
        if (this.#holders.size > 0) return 'ok';
        oldest.isTrimmed = true;
        this.#segments = this.#segments.slice(1);
        await this.#supply.recycle({ path: oldest.path, bytes: oldest.fileBytes });
      }
    } catch (cause) {
      throw this.#fail(cause);
    }
  }

  async #letGoOfEverything(): Promise<void> {
    // The callers of these operations get their outcomes; here they only must have ended.
    await this.#acquiring.catch(() => {});
    await this.#trimming.catch(() => {});
    await this.#appending?.catch(() => {});
    this.#currentEpoch = NO_EPOCH;
    await this.#writer?.close();
    await this.#supply.close();
    await this.#lock.release();
  }

  get #first(): number {
    return this.#segments.at(0)?.header.baseTail ?? this.#tail;
  }

  #fail(cause: unknown): LogFailedError {
    this.#failure ??= new LogFailedError(this.#folder, cause);
    return this.#failure;
  }

  #refuseIfEnded(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closing !== undefined) throw new Error(`the log in '${this.#folder}' is closed`);
  }
}
