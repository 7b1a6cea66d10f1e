import type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogHold,
  LogTrim,
  OnBatch,
  StoredBatch,
  TrimOutcome,
} from '@sluice/log';

/** Is told the answers of a log. */
export interface LogWatch {
  acquired(hold: LogHold): void;
  answered(outcome: AppendOutcome): void;
  /** The log says that the batch is durable. */
  committed(batch: LogBatch): void;
  read(batch: StoredBatch): void;
  trimming(trim: LogTrim): void;
}

/** A log that reports its answers to a watcher. */
export class WatchedLog implements BoundedLog {
  private readonly inner: BoundedLog;
  private readonly watch: LogWatch;

  constructor(inner: BoundedLog, watch: LogWatch) {
    this.inner = inner;
    this.watch = watch;
  }

  get isFull(): boolean {
    return this.inner.isFull;
  }

  async acquire(): Promise<LogHold> {
    const hold = await this.inner.acquire();
    this.watch.acquired(hold);
    return hold;
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    const outcome = await this.inner.append(batch);
    this.watch.answered(outcome);
    if (outcome === 'ok' || outcome === 'duplicate') this.watch.committed(batch);
    return outcome;
  }

  read(from: number, onBatch: OnBatch): Promise<void> {
    return this.inner.read(from, (batch) => {
      this.watch.read(batch);
      return onBatch(batch);
    });
  }

  trim(trim: LogTrim): Promise<TrimOutcome> {
    this.watch.trimming(trim);
    return this.inner.trim(trim);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
