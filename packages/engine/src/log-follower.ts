import type { PartitionLog, StoredBatch } from '@sluice/log';
import { type FollowedPartition, type RecoverySource, replayPartition } from './recovery.ts';

/** The log no longer continues what was followed: the memory has to be dropped (L5). */
export class LogChangedError extends Error {
  override readonly name = 'LogChangedError';
}

interface FollowerOptions extends Omit<RecoverySource, 'log'> {
  readonly log: Pick<PartitionLog, 'read'> & {
    extent(): Promise<RecoverySource['log']>;
  };
}

/** What is compared when the log is read on: a log that went back has another batch there. */
interface LastBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly epoch: number;
  readonly bytes: Uint8Array;
}

/**
 * A partition that follows a log which another server writes. It decides nothing. An engine can go
 * on with it at any time (`followed` in `EngineOptions`).
 */
export class LogFollower {
  readonly #log: FollowerOptions['log'];
  readonly #followed: FollowedPartition;
  #reached: number;
  #replayedBytes: number;
  /** Undefined until there is a batch after the snapshot. */
  #last: LastBatch | undefined;

  private constructor(
    log: FollowerOptions['log'],
    followed: FollowedPartition,
    last: LastBatch | undefined,
  ) {
    this.#log = log;
    this.#followed = followed;
    this.#last = last;
    this.#reached = followed.reached;
    this.#replayedBytes = followed.replayedBytes;
  }

  /** Loads the newest snapshot and replays the records after it. */
  static async start({ log, ...source }: FollowerOptions): Promise<LogFollower> {
    let last: LastBatch | undefined;
    const read: PartitionLog['read'] = (from, onBatch) =>
      log.read(from, (batch) => {
        last = lastBatchOf(batch);
        return onBatch(batch);
      });
    const followed = await replayPartition({ ...source, log: await log.extent() }, { read });
    return new LogFollower(log, followed, last);
  }

  /** The first record that was not replayed. */
  get reached(): number {
    return this.#reached;
  }

  get followed(): FollowedPartition {
    return { ...this.#followed, reached: this.#reached, replayedBytes: this.#replayedBytes };
  }

  /**
   * Replays what was committed since. Rejects with a `LogChangedError`, or with the log's own error
   * when it was trimmed: then this follower is of no use any more.
   */
  async catchUp(): Promise<void> {
    const last = this.#last;
    let isChecked = last === undefined;
    try {
      await this.#log.read(last?.firstRecord ?? this.#reached, (batch) => {
        if (!isChecked && last !== undefined) this.#compare(last, batch);
        else this.#take(batch);
        isChecked = true;
      });
    } catch (cause) {
      // A reader that has seen more than the log has.
      if (cause instanceof RangeError) throw new LogChangedError(cause.message, { cause });
      throw cause;
    }
    if (!isChecked) throw new LogChangedError('the last batch that was read is gone');
  }

  #compare(last: LastBatch, { firstRecord, recordCount, epoch, bytes }: StoredBatch): void {
    const isSame =
      firstRecord === last.firstRecord &&
      recordCount === last.recordCount &&
      epoch === last.epoch &&
      Buffer.compare(bytes, last.bytes) === 0;
    if (!isSame) throw new LogChangedError(`the batch at record ${firstRecord} is another one`);
  }

  #take(batch: StoredBatch): void {
    const { firstRecord, recordCount, bytes } = batch;
    this.#followed.partition.replay(bytes, firstRecord);
    this.#reached = firstRecord + recordCount;
    this.#replayedBytes += bytes.length;
    this.#last = lastBatchOf(batch);
  }
}

/** The bytes of a batch are valid only while it is passed on. */
function lastBatchOf({ firstRecord, recordCount, epoch, bytes }: StoredBatch): LastBatch {
  return { firstRecord, recordCount, epoch, bytes: Uint8Array.from(bytes) };
}
