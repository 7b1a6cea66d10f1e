import { type BoundedLog, type LogHold, STOP_READING, type StoredBatch } from '@sluice/log';
import { RecoveryError } from './recovery.ts';

/** A batch of the log that is durable. `bytes` is the consumer's to keep. */
export interface CommittedBatch {
  readonly firstRecord: number;
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** How far a consumer has come, for good: it will never ask for what is before that again. */
export interface Watermark {
  /** The first record that it does not have. */
  readonly position: number;
  /** The time of the last record that it has. */
  readonly at: number;
}

export interface FeedOptions {
  /** The first record that the consumer does not have yet. */
  readonly from: number;
  /** What the consumer is called in errors, with the place of its data. */
  readonly name?: string;
  /**
   * Called when the log does not go back as far as that: what is before `first` is lost to the
   * consumer, and it goes on there. Without it such a start is refused.
   */
  readonly onLost?: (first: number) => void;
  /** Bytes of batches that are held for the consumer at once, twice. */
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
 * Hands the committed batches of a partition to one consumer, in order and without gaps.
 *
 * C1 Nothing is handed out before it is durable.
 * C2 Memory is bounded, however far the consumer is behind: the newest batches are kept at hand,
 *    and what is older than those is read from the log again.
 * C3 The watermark never goes back, and never past what was handed out. Behind it the log may be
 *    trimmed, before it never, unless the consumer has ended and the log was let go.
 */
export class CommittedFeed {
  private readonly source: FeedSource;
  private readonly bytesMax: number;
  /** The next record to hand out. */
  private position: number;
  private tail: number;
  /** The newest batches, up to the tail without gaps. */
  private readonly recent: Backlog = { batches: [], bytes: 0 };
  /** What was read from the log, from `position` on. */
  private readonly reread: Backlog = { batches: [], bytes: 0 };
  private acknowledged: number;
  private isClosed = false;
  /** The consumer takes nothing more. */
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

  /** Whether everything that is durable was handed out. */
  get isEmpty(): boolean {
    return this.position === this.tail;
  }

  /** Bytes that are held for the consumer. */
  get bufferedBytes(): number {
    return this.recent.bytes + this.reread.bytes;
  }

  /**
   * The next batch, as soon as there is one; undefined once the feed is closed. A consumer asks for
   * one at a time: as long as it does not ask, nothing is read for it.
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

  /** The consumer has all before the watermark, durably. */
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

  /** A batch became durable. Its memory is the caller's. */
  committed(batch: CommittedBatch): void {
    this.tail = batch.firstRecord + batch.recordCount;
    if (this.isClosed) return;
    push(this.recent, { ...batch, bytes: copyOf(batch.bytes) });
    while (this.recent.bytes > this.bytesMax && this.recent.batches.length > 1) shift(this.recent);
    this.wake?.();
  }

  /**
   * The consumer takes nothing more until the next start: neither batches nor finished tasks are
   * kept in memory for it. The log is, so that it can go on from there, until `letGo`.
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

  /** The log is not kept for the consumer any more. */
  letGo(): void {
    this.acknowledged = Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.isClosed = true;
    this.wake?.();
  }

  /** The next batch if it is at hand. */
  take(): CommittedBatch | undefined {
    const [reread] = this.reread.batches;
    const [recent] = this.recent.batches;
    const isReread = reread !== undefined;
    if (!isReread && recent?.firstRecord !== this.position) return undefined;
    const batch = shift(isReread ? this.reread : this.recent);
    this.position = batch.firstRecord + batch.recordCount;
    return batch;
  }

  /** Reads up to the batches that are at hand, or as much as may be held. */
  private async readAgain(): Promise<void> {
    const { reread, recent, tail } = this;
    const takeOne = ({ firstRecord, recordCount, bytes }: StoredBatch) => {
      // The log may have more than the engine has heard of (C1).
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

/** The feed from where the log can give it. */
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

/** Not `slice`, which is a view of the same memory when a log hands out Node's buffers. */
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
