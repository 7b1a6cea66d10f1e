import { LogTrimmedError } from './log-errors.ts';

/** One batch of records, as its writer hands it to the log. The log never looks into `bytes`. */
export interface LogBatch {
  /** The epoch that `acquire` answered. A batch with any other epoch is fenced. */
  readonly epoch: number;
  /** How many records the log holds before this batch. */
  readonly expectedTail: number;
  /**
   * A random integer below 2^53, the same on every repeat of the same batch: it is how the log
   * recognises a repeat.
   */
  readonly nonce: number;
  /** At least 1. The tail moves on by this number. */
  readonly recordCount: number;
  /** Belongs to the log until `append` has answered; the caller must not write to it before. */
  readonly bytes: Uint8Array;
}

/**
 * - `ok`: the whole batch is durable.
 * - `duplicate`: this batch is already the last one of the log, and durable.
 * - `fenced`: another holder took over, or the log has moved on. Nothing was written; the caller
 *   forgets its state and starts again from `acquire`.
 * - `unknown`: the engine cannot tell whether the batch landed.
 * - `full`: there is no room left, not even in reserve. Nothing was written; the caller may repeat
 *   the same call until there is room again, and nothing has changed for it in between.
 */
export type AppendOutcome = 'ok' | 'duplicate' | 'fenced' | 'unknown' | 'full';

/** A committed batch, as `read` hands it out. */
export interface StoredBatch {
  /** The number of this batch's first record; records count from 0. */
  readonly firstRecord: number;
  readonly recordCount: number;
  /** The epoch of the holder that appended the batch. */
  readonly epoch: number;
  /** Valid only during the callback, because the engine reads on into the same memory. */
  readonly bytes: Uint8Array;
}

/** What `onBatch` answers when it has enough. */
export const STOP_READING = Symbol('stop reading');

/** Takes one batch of a read, which goes on unless this answers `STOP_READING`. */
export type OnBatch = (batch: StoredBatch) => unknown;

/** What `acquire` answers: the right to append and to trim, and what the log holds. */
export interface LogHold {
  readonly epoch: number;
  /** The first record that can be read; equals `tail` when there is none. 0 unless trimmed. */
  readonly first: number;
  /** Where to append: how many records the log has ever held. */
  readonly tail: number;
}

/** Which records the holder has no more use for. */
export interface LogTrim {
  /** The epoch that `acquire` answered. A trim with any other epoch is fenced. */
  readonly epoch: number;
  /** The first record that must stay. */
  readonly upTo: number;
}

/**
 * - `ok`: what could go is gone for good.
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
   * Makes the caller the only holder: fences every earlier holder first and reads the tail second,
   * so that nothing can land behind the tail that it answers. Epochs only ever grow.
   *
   * Rejects with a `LogFullError` when there is no room to begin with. Earlier holders are fenced
   * all the same; the call may be repeated.
   */
  acquire(): Promise<LogHold>;

  /**
   * Appends the batch after `expectedTail`, all or nothing, and answers once it is durable.
   *
   * `unknown` means that the engine cannot tell. The caller repeats the same call with the same
   * nonce; it never reads the tail and tries anew, because the first call may still land.
   *
   * A holder has at most one append outstanding; a second one, like a batch out of bounds, is a
   * mistake of the caller and rejects without effect. A `LogFailedError` means that the log failed
   * for good: the caller ends the process and recovers from what is durable.
   */
  append(batch: LogBatch): Promise<AppendOutcome>;

  /**
   * Hands every batch that was committed when the call began to `onBatch`, in order, starting with
   * the batch that holds record `from`, until it has enough. Needs no hold.
   *
   * Rejects with a `RangeError` when `from` lies past the tail: a reader that has seen more
   * than the log holds must not go on as if nothing were missing. Rejects with a `LogTrimmedError`
   * when record `from` has been trimmed, and also half-way when a trim overtakes the read; what was
   * handed out until then is right.
   */
  read(from: number, onBatch: OnBatch): Promise<void>;

  /** Waits for an outstanding append and lets go of everything. Every later call rejects. */
  close(): Promise<void>;
}

/** A log whose size is bounded: it lets go of what its holder has no more use for. */
export interface BoundedLog extends PartitionLog {
  /**
   * True while the log cannot get room beyond what it has in reserve. Appends still land until that
   * is used up, so the caller takes on no new work and spends the rest on work that ends. Becomes
   * false by itself when there is room again.
   */
  readonly isFull: boolean;

  /**
   * Lets go of records below `upTo`, in whole batches from the oldest on, and answers once that is
   * durable. Every record from `upTo` on stays. Records below it may stay too, because an engine
   * removes what it stored together at once or not at all; a later trim takes them along.
   *
   * The tail and the last batch's nonce are not touched by it: a record number is never given
   * twice. May overlap appends and reads. Rejects with a `RangeError` when `upTo` lies past the
   * tail.
   */
  trim(trim: LogTrim): Promise<TrimOutcome>;
}

/**
 * What the log needs to know of its last batch to recognise a repeat of it. An engine need not keep
 * it over a restart: a hold does not outlive the log that gave it, so no repeat can come with the
 * epoch of the batch.
 */
export interface LastBatch {
  readonly nonce: number;
  readonly firstRecord: number;
}

/** What an append is judged against. `lastBatch` is undefined while the log is empty. */
export interface LogPosition {
  readonly epoch: number;
  readonly tail: number;
  readonly lastBatch: LastBatch | undefined;
}

/**
 * The one rule of compare-and-append. The epoch is compared first: a fenced holder must not learn
 * that its batch landed and go on to release outputs.
 */
export function judgeAppend(batch: LogBatch, position: LogPosition): 'land' | AppendOutcome {
  if (batch.epoch !== position.epoch) return 'fenced';
  if (batch.expectedTail === position.tail) return 'land';
  const last = position.lastBatch;
  const isRepeat = last?.nonce === batch.nonce && last.firstRecord === batch.expectedTail;
  return isRepeat ? 'duplicate' : 'fenced';
}

/** Bounds one write and the memory that recovery needs for it (L9). */
const BATCH_BYTES_MAX = 2 ** 30;

const RECORD_COUNT_MAX = 2 ** 32 - 1;

/** Rejects what no engine could store faithfully. */
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

/** Rejects a read that starts where the log has never been, or where it no longer is. */
export function checkReadFrom(from: number, { first, tail }: Omit<LogHold, 'epoch'>): void {
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
