import { LogTrimmedError } from './log-errors.ts';

/** One batch of records, as the writer passes it to the log. The log never looks into `bytes`. */
export interface LogBatch {
  /** The epoch that `acquire` returned. A batch with any other epoch is fenced. */
  readonly epoch: number;
  /** How many records the log holds before this batch. */
  readonly expectedTail: number;
  /**
   * A random integer below 2^53, the same on every repeat of the same batch. The log recognises a
   * repeat by it.
   */
  readonly nonce: number;
  /** At least 1. The tail advances by this number. */
  readonly recordCount: number;
  /** Belongs to the log until `append` has resolved; the caller must not write to it before. */
  readonly bytes: Uint8Array;
}

/**
 * - `ok`: the whole batch is durable.
 * - `duplicate`: this batch is already the last one of the log, and durable.
 * - `fenced`: another holder took over, or the log has moved on. Nothing was written; the caller
 *   discards its state and starts again with `acquire`.
 * - `unknown`: the engine cannot tell whether the batch landed.
 * - `full`: there is no room left, not even in reserve. Nothing was written. The caller may repeat
 *   the same call until there is room again; nothing changes for it in between.
 */
export type AppendOutcome = 'ok' | 'duplicate' | 'fenced' | 'unknown' | 'full';

/** A committed batch, as `read` passes it on. */
export interface StoredBatch {
  /** The number of this batch's first record; records count from 0. */
  readonly firstRecord: number;
  readonly recordCount: number;
  /** The epoch of the holder that appended the batch. */
  readonly epoch: number;
  /** Valid only during the callback, because the engine reads on into the same memory. */
  readonly bytes: Uint8Array;
}

/** `onBatch` returns this to end the read. */
export const STOP_READING = Symbol('stop reading');

/** Takes one batch of a read, which continues unless this returns `STOP_READING`. */
export type OnBatch = (batch: StoredBatch) => unknown;

/** The records that the log holds. */
export interface LogExtent {
  /** The first record that can be read; equals `tail` when there is none. 0 unless trimmed. */
  readonly first: number;
  /** Where to append: the number of records that the log has ever held. */
  readonly tail: number;
}

/** The result of `acquire`: the right to append and to trim, and what the log holds. */
export interface LogHold extends LogExtent {
  readonly epoch: number;
}

/** Records that the holder no longer needs. */
export interface LogTrim {
  /** The epoch that `acquire` returned. A trim with any other epoch is fenced. */
  readonly epoch: number;
  /** The first record that must stay. */
  readonly upTo: number;
}

/**
 * - `ok`: everything that could be removed is removed durably.
 * - `fenced`: another holder took over. Nothing was removed.
 */
export type TrimOutcome = 'ok' | 'fenced';

/**
 * The durable record of one partition, with a single writer.
 *
 * Every engine passes the suite in `conformance.ts`; that suite, not this comment, is the contract.
 */
export interface PartitionLog {
  /**
   * Makes the caller the only holder. It first fences every earlier holder and then reads the tail,
   * so that nothing can land behind the tail that it returns. Epochs only ever grow.
   *
   * Rejects with a `LogFullError` when there is no room to begin with. Earlier holders are fenced
   * even then; the call may be repeated.
   */
  acquire(): Promise<LogHold>;

  /**
   * Appends the batch after `expectedTail`, all or nothing, and resolves once it is durable.
   *
   * `unknown` means that the engine cannot tell. The caller repeats the same call with the same
   * nonce. It never reads the tail and builds a new call, because the first call may still land.
   *
   * A holder has at most one append outstanding. A second one, or a batch out of bounds, is a
   * mistake of the caller and rejects without effect. A `LogFailedError` means that the log failed
   * for good: the caller ends the process and recovers from what is durable.
   */
  append(batch: LogBatch): Promise<AppendOutcome>;

  /**
   * Passes every batch that was committed when the call began to `onBatch`, in order, starting with
   * the batch that holds record `from`, until `onBatch` stops it. Needs no hold.
   *
   * Rejects with a `RangeError` when `from` lies past the tail: a reader that has seen more than
   * the log holds must not continue as if nothing were missing. Rejects with a `LogTrimmedError`
   * when record `from` has been trimmed, and also midway when a trim overtakes the read; the
   * batches passed until then are valid.
   */
  read(from: number, onBatch: OnBatch): Promise<void>;

  /** Waits for an outstanding append and releases all resources. Every later call rejects. */
  close(): Promise<void>;
}

/** A log of bounded size: it removes what its holder no longer needs. */
export interface BoundedLog extends PartitionLog {
  /**
   * True while the log cannot get room beyond its reserve. Appends still land until the reserve is
   * used up, so the caller accepts no new work and spends the rest on work that ends. Becomes false
   * by itself when there is room again.
   */
  readonly isFull: boolean;

  /**
   * Removes records below `upTo`, in whole batches from the oldest on, and resolves once that is
   * durable. Every record from `upTo` on stays. Records below it may stay too, because an engine
   * removes what it stored together at once or not at all; a later trim removes them.
   *
   * The tail and the last batch's nonce do not change: a record number is never used twice. May
   * overlap appends and reads. Rejects with a `RangeError` when `upTo` lies past the tail.
   */
  trim(trim: LogTrim): Promise<TrimOutcome>;
}

/**
 * What the log remembers of its last batch to recognise a repeat of it. An engine need not keep it
 * across a restart: a hold does not outlive the log that gave it, so no repeat can come with the
 * epoch of the batch.
 */
export interface LastBatch {
  readonly nonce: number;
  readonly firstRecord: number;
}

/**
 * The position that an append is compared with. `lastBatch` is undefined while the log is empty.
 */
export interface LogPosition {
  readonly epoch: number;
  readonly tail: number;
  readonly lastBatch: LastBatch | undefined;
}

/**
 * The rule of compare-and-append. The epoch is compared first: a fenced holder must not learn that
 * its batch landed and release outputs.
 */
export function judgeAppend(batch: LogBatch, position: LogPosition): 'land' | AppendOutcome {
  if (batch.epoch !== position.epoch) return 'fenced';
  if (batch.expectedTail === position.tail) return 'land';
  const last = position.lastBatch;
  const isRepeat = last?.nonce === batch.nonce && last.firstRecord === batch.expectedTail;
  return isRepeat ? 'duplicate' : 'fenced';
}

/** Limits one write and the memory that recovery needs for it (L9). */
const BATCH_BYTES_MAX = 2 ** 30;

const RECORD_COUNT_MAX = 2 ** 32 - 1;

/** Rejects batches that no engine could store faithfully. */
export function checkBatch(batch: LogBatch): void {
  const { nonce, recordCount, bytes } = batch;
  if (!Number.isSafeInteger(nonce) || nonce < 0) {
    throw new RangeError(`the nonce must be an integer from 0 to 2^53 - 1, not ${nonce}`);
  }
  if (!Number.isInteger(recordCount) || recordCount < 1 || recordCount > RECORD_COUNT_MAX) {
    throw new RangeError(`a batch holds 1 to ${RECORD_COUNT_MAX} records, not ${recordCount}`);
  }
  if (bytes.length > BATCH_BYTES_MAX) {
    throw new RangeError(`a batch holds up to ${BATCH_BYTES_MAX} bytes, not ${bytes.length}`);
  }
}

/** Rejects a read that starts past the tail or in trimmed records. */
export function checkReadFrom(from: number, { first, tail }: LogExtent): void {
  if (!Number.isInteger(from) || from < 0 || from > tail) {
    throw new RangeError(`cannot read from record ${from}: the log holds ${tail} records`);
  }
  if (from < first) throw new LogTrimmedError(from, first);
}

/** Rejects a trim of records that do not exist yet. */
export function checkTrim({ upTo }: LogTrim, tail: number): void {
  if (Number.isInteger(upTo) && upTo >= 0 && upTo <= tail) return;
  throw new RangeError(`cannot trim up to record ${upTo}: the log holds ${tail} records`);
}

/** The rejection of an append that overlaps another one of the same holder. */
export function overlappingAppend(): Error {
  return new Error('an append is outstanding; wait for its answer before the next append');
}
