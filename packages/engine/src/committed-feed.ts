import { type BoundedLog, type LogHold, STOP_READING, type StoredBatch } from '@sluice/log';
import { RecoveryError } from './recovery.ts';

/** A durable batch of the log. The consumer may keep `bytes`. */
export interface CommittedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** How far a consumer has durably come: it never asks for earlier records again. */
export interface Watermark {
  /** The first record that it does not have. */
  readonly position: number;
  /** The time of the last record that it has. */
  readonly at: number;
}

export interface FeedOptions {
  /** The first record that the consumer does not have yet. */
  readonly from: number;
  /** Name of the consumer in errors, with the place of its data. */
  readonly name?: string;
  /**
   * Called when the log was trimmed past `from`: the consumer has lost the records before `first`
   * and continues there. Without this function such a start is refused.
   */
  readonly onLost?: (first: number) => void;
  /**
   * Limit of the bytes held for the consumer; applies to recent and to reread batches separately.
   */
  readonly bufferBytesMax?: number;
}

export interface FeedSource extends FeedOptions {
  readonly log: Pick<BoundedLog, 'read'>;
  /** How many records are durable. */
  readonly tail: number;
  readonly onAcknowledged: (watermark: Watermark) => void;
}

const BUFFER_BYTES_MAX = 8 * 2 ** 20;

/**
 * Passes the committed batches of a partition to one consumer, in order and without gaps.
 *
 * feed.only-durable: Nothing is passed on before it is durable.
 * feed.bounded-memory: Memory is bounded, however far the consumer is behind: the newest batches
 *   are kept in memory, and older ones are read from the log again.
 * feed.safe-watermark: The watermark never goes back, and never past what was passed on. The log is
 *   trimmed only below the watermark, unless the consumer has ended and the log was let go.
 */
export class CommittedFeed {
  private readonly source: FeedSource;
  private readonly bytesMax: number;
  /** The next record to pass on. */
  private position: number;
  private tail: number;
  /** The newest batches, up to the tail without gaps. */
  private readonly recent: Backlog = { batches: [], bytes: 0 };
  /** Batches read from the log, from `position` on. */
  private readonly reread: Backlog = { batches: [], bytes: 0 };
  private acknowledged: number;
  private isClosed = false;
  /** The consumer takes no more batches. */
  private hasEnded = false;
  /** Set while `next` waits for a commit. */
  private wake: (() => void) | undefined;

  constructor(source: FeedSource) {
    this.source = source;
    this.bytesMax = source.bufferBytesMax ?? BUFFER_BYTES_MAX;
    this.position = source.from;
    this.acknowledged = source.from;
    this.tail = source.tail;
  }

  /** The first record that the consumer has not acknowledged. */
  get watermark(): number {
    return this.acknowledged;
  }

  /** Whether everything durable was passed on. */
  get isEmpty(): boolean {
    return this.position === this.tail;
  }

  /** Bytes held for the consumer. */
  get bufferedBytes(): number {
    return this.recent.bytes + this.reread.bytes;
  }

  /**
   * The next batch, as soon as there is one; undefined once the feed is closed. A consumer asks for
   * one batch at a time. While it does not ask, nothing is read for it.
   */
  async next(): Promise<CommittedBatch | undefined> {
    for (;;) {
      if (this.isClosed) return undefined;
      const batch = this.take();
      if (batch !== undefined) return batch;
      if (this.position < this.tail) await this.readAgain();
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }

  /** The consumer durably has everything before the watermark. */
  acknowledge(watermark: Watermark): void {
    const { position } = watermark;
    if (position > this.position) {
      throw new RangeError(
        `cannot acknowledge up to record ${position}: only ${this.position} were handed out`,
      );
    }
    if (this.hasEnded || position <= this.acknowledged) return;
    this.acknowledged = position;
    this.source.onAcknowledged(watermark);
  }

  /** A batch became durable. Its memory belongs to the caller. */
  committed(batch: CommittedBatch): void {
    this.tail = batch.firstRecord + batch.recordCount;
    if (this.isClosed) return;
    push(this.recent, { ...batch, bytes: copyOf(batch.bytes) });
    while (this.recent.bytes > this.bytesMax && this.recent.batches.length > 1) shift(this.recent);
    this.wake?.();
  }

  /**
   * The consumer takes no more batches until the next start. Neither batches nor finished tasks are
   * kept in memory for it. The log is kept until `letGo`, so that the consumer can continue from
   * there.
   */
  consumerEnded(): void {
    this.hasEnded = true;
    this.close();
    for (const backlog of [this.recent, this.reread]) {
      backlog.batches.length = 0;
      backlog.bytes = 0;
    }
    const at = Number.POSITIVE_INFINITY;
    this.source.onAcknowledged({ position: this.acknowledged, at });
  }

  /** The log is no longer kept for the consumer. */
  letGo(): void {
    this.acknowledged = Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.isClosed = true;
    this.wake?.();
  }

  /** The next batch, if it is in memory. */
  take(): CommittedBatch | undefined {
    const [reread] = this.reread.batches;
    const [recent] = this.recent.batches;
    const isReread = reread !== undefined;
    if (!isReread && recent?.firstRecord !== this.position) return undefined;
    const batch = shift(isReread ? this.reread : this.recent);
    this.position = batch.firstRecord + batch.recordCount;
    return batch;
  }

  /** Reads up to the batches that are in memory, or up to the limit. */
  private async readAgain(): Promise<void> {
    const { reread, recent, tail } = this;
    const takeOne = ({ firstRecord, recordCount, bytes }: StoredBatch) => {
      // The log may already hold batches whose commit the engine has not seen yet
      // (feed.only-durable).
      const end = recent.batches.at(0)?.firstRecord ?? tail;
      if (firstRecord >= end) return STOP_READING;
      push(reread, { firstRecord, recordCount, bytes: copyOf(bytes) });
      return reread.bytes < this.bytesMax ? undefined : STOP_READING;
    };
    try {
      await this.source.log.read(this.position, takeOne);
    } catch (cause) {
      // The log may have been closed first.
      if (!this.isClosed) throw cause;
    }
  }
}

/** The feed options, adjusted to what the log still holds. */
export function feedWithin(feed: FeedOptions | undefined, { first, tail }: LogHold) {
  if (feed === undefined || (feed.from >= first && feed.from <= tail)) return feed;
  if (feed.from < first && feed.onLost !== undefined) {
    feed.onLost(first);
    return { ...feed, from: first };
  }
  throw new RecoveryError(
    `${feed.name ?? 'the consumer of the log'} continues at record ${feed.from}, but the log has ` +
      `records ${first} to ${tail}; restore what belongs together, or move its data away: ` +
      'it is then rebuilt from the log',
  );
}

/** Not `slice`, which returns a view of the same memory when a log passes Node buffers. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

interface Backlog {
  readonly batches: CommittedBatch[];
  bytes: number;
}

function push(backlog: Backlog, batch: CommittedBatch): void {
  backlog.batches.push(batch);
  backlog.bytes += batch.bytes.length;
}

function shift(backlog: Backlog): CommittedBatch {
  const batch = backlog.batches.shift();
  if (batch === undefined) throw new Error('nothing is held');
  backlog.bytes -= batch.bytes.length;
  return batch;
}
