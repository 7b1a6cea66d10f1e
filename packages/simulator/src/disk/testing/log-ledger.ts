/** What a process found when it started. */
export interface FoundLog {
  readonly epoch: number;
  readonly first: number;
  /** Starts with the first record. */
  readonly texts: readonly string[];
  /** Newest first. */
  readonly snapshots: readonly number[];
}

/**
 * What the processes that used a log have promised, recorded outside of their machine. It checks
 * that each new process finds all of it.
 */
export class LogLedger {
  /** Acknowledged texts, by record. */
  readonly texts: string[] = [];
  /** A text that was sent and not answered. */
  inDoubt: string | undefined;
  /** The newest snapshot that was reported as saved. */
  snapshot = 0;
  /** The first record after everything that was reported as trimmed. */
  first = 0;
  private epoch = 0;

  /**
   * Throws if something is wrong. Otherwise accepts the text in doubt if it turned out to be there.
   */
  check({ epoch, first, texts, snapshots }: FoundLog): void {
    const tail = first + texts.length;
    if (epoch <= this.epoch) fail(`epoch ${epoch} comes after ${this.epoch}`);
    this.epoch = epoch;
    if (first < this.first) fail(`record ${first} is back, though trimmed up to ${this.first}`);
    if (tail === this.texts.length + 1 && this.inDoubt !== undefined) this.texts.push(this.inDoubt);
    this.inDoubt = undefined;
    if (tail !== this.texts.length) fail(`${tail} records instead of ${this.texts.length}`);
    for (const [index, text] of texts.entries()) {
      const expected = this.texts[first + index];
      if (text !== expected) fail(`record ${first + index} is '${text}', not '${expected}'`);
    }
    this.checkSnapshots(first, snapshots);
  }

  private checkSnapshots(first: number, snapshots: readonly number[]): void {
    const [newest = 0, older = 0] = snapshots;
    if (newest > this.texts.length) fail(`the snapshot ${newest} is ahead of the log`);
    if (older < first) fail(`the log begins with ${first}, the older snapshot is ${older}`);
    const newer = snapshots.filter((position) => position > this.snapshot).length;
    const isKept = newer >= 2 || this.snapshot === 0 || snapshots.includes(this.snapshot);
    if (!isKept) fail(`the snapshot ${this.snapshot} is gone; there are: ${snapshots.join()}`);
  }
}

function fail(what: string): never {
  throw new Error(`a promise was broken: ${what}`);
}
