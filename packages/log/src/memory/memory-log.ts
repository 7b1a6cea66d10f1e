import {
  type AppendOutcome,
  type BoundedLog,
  checkBatch,
  checkReadFrom,
  checkTrim,
  judgeAppend,
  type LastBatch,
  type LogBatch,
  type LogHold,
  type LogTrim,
  type OnBatch,
  overlappingAppend,
  STOP_READING,
  type StoredBatch,
  type TrimOutcome,
} from '../contract/partition-log.ts';

/**
 * The data that the handles of one memory log share. It stands for the disk: it outlives every
 * handle, so a test closes one `MemoryLog` and opens the next over the same store.
 */
export class MemoryLogStore {
  /** Set by tests and the simulator: from then on nothing lands, as on a full disk. */
  isFull = false;
  #epoch = 0;
  /** The first record in `#batches`, or the tail. */
  #first = 0;
  #tail = 0;
  /** Undefined until the first batch lands. */
  #lastBatch: LastBatch | undefined;
  /** In the order of the log. A trim replaces the array, so that running reads are not affected. */
  #batches: StoredBatch[] = [];

  /** The first record that can be read. */
  get first(): number {
    return this.#first;
  }

  acquire(): LogHold {
    this.#epoch += 1;
    return { epoch: this.#epoch, first: this.#first, tail: this.#tail };
  }

  append(batch: LogBatch): AppendOutcome {
    const verdict = judgeAppend(batch, {
      epoch: this.#epoch,
      tail: this.#tail,
      lastBatch: this.#lastBatch,
    });
    if (verdict !== 'land') return verdict;
    if (this.isFull) return 'full';

    this.#batches.push({
      firstRecord: this.#tail,
      recordCount: batch.recordCount,
      epoch: batch.epoch,
      bytes: Uint8Array.from(batch.bytes),
    });
    this.#lastBatch = { nonce: batch.nonce, firstRecord: this.#tail };
    this.#tail += batch.recordCount;
    return 'ok';
  }

  read(from: number, onBatch: OnBatch): void {
    checkReadFrom(from, { first: this.#first, tail: this.#tail });
    const batches = this.#batches;
    const committed = batches.length;
    for (let index = 0; index < committed; index += 1) {
      const batch = batches[index];
      if (batch.firstRecord + batch.recordCount <= from) continue;
      if (onBatch(batch) === STOP_READING) return;
    }
  }

  trim(trim: LogTrim): TrimOutcome {
    if (trim.epoch !== this.#epoch) return 'fenced';
    checkTrim(trim, this.#tail);
    const isKept = (batch: StoredBatch) => batch.firstRecord + batch.recordCount > trim.upTo;
    this.#batches = this.#batches.filter(isKept);
    this.#first = this.#batches.at(0)?.firstRecord ?? this.#tail;
    return 'ok';
  }
}

/** A log that is durable for as long as its store is referenced: for tests and the simulator. */
export class MemoryLog implements BoundedLog {
  readonly #store: MemoryLogStore;
  #appending = false;
  #closed = false;

  constructor(store: MemoryLogStore = new MemoryLogStore()) {
    this.#store = store;
  }

  get isFull(): boolean {
    return this.#store.isFull;
  }

  async acquire(): Promise<LogHold> {
    this.#refuseIfClosed();
    return this.#store.acquire();
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    this.#refuseIfClosed();
    if (this.#appending) throw overlappingAppend();
    checkBatch(batch);
    this.#appending = true;
    try {
      // The answer comes in a later turn, as from a disk, so that callers cannot rely on an append
      // that completes before the call returns.
      await Promise.resolve();
      return this.#store.append(batch);
    } finally {
      this.#appending = false;
    }
  }

  async read(from: number, onBatch: OnBatch): Promise<void> {
    this.#refuseIfClosed();
    this.#store.read(from, onBatch);
  }

  async trim(trim: LogTrim): Promise<TrimOutcome> {
    this.#refuseIfClosed();
    await Promise.resolve();
    return this.#store.trim(trim);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new Error('the memory log is closed; open another over its store');
  }
}
