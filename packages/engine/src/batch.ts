import { RecordWriter, type Utf8 } from '@sluice/core';

/** Something that waits for its batch to be durable. */
export interface Releasable {
  release(): void;
  /** The batch will not become durable under this engine; nothing may be released. */
  drop(cause: Error): void;
}

/**
 * The records of the commands since the last append, and what is released once they are durable.
 */
export class Batch {
  readonly writer: RecordWriter;
  /** What the state marks with it was touched by this batch; numbers repeat after 2^16 batches. */
  number = 0;
  /** Renames of workers before this batch. */
  renames = 0;
  waiting: Releasable[] = [];

  constructor(utf8: Utf8) {
    this.writer = new RecordWriter(utf8);
  }

  get isEmpty(): boolean {
    return this.writer.recordCount === 0;
  }

  /** Empties the batch for the next commands and returns what waited for this one. */
  reset(): readonly Releasable[] {
    const { waiting } = this;
    this.waiting = [];
    this.writer.reset();
    return waiting;
  }
}
