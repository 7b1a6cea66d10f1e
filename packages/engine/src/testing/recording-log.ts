import type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogHold,
  LogTrim,
  OnBatch,
  TrimOutcome,
} from '@sluice/log';

/** Wraps a log and keeps every append as it was called. */
export class RecordingLog implements BoundedLog {
  readonly appends: LogBatch[] = [];
  /** Errors of the next appends, in order, each thrown after the batch landed. */
  readonly failures: Error[] = [];
  /** Set by a test: the log reports that it is full and continues in its reserve. */
  seemsFull = false;
  private readonly inner: BoundedLog;

  constructor(inner: BoundedLog) {
    this.inner = inner;
  }

  get isFull(): boolean {
    return this.seemsFull || this.inner.isFull;
  }

  acquire(): Promise<LogHold> {
    return this.inner.acquire();
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    this.appends.push({ ...batch, bytes: batch.bytes.slice() });
    const failure = this.failures.shift();
    const outcome = await this.inner.append(batch);
    if (failure !== undefined) throw failure;
    return outcome;
  }

  read(from: number, onBatch: OnBatch): Promise<void> {
    return this.inner.read(from, onBatch);
  }

  trim(trim: LogTrim): Promise<TrimOutcome> {
    return this.inner.trim(trim);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
