import type { StoredRecord } from './stored-row.ts';

/** Maximum number of rows read at once. */
const AHEAD_MAX = 256;

export interface RecordSource {
  readAhead(number: number, count: number): Map<number, StoredRecord>;
}

/**
 * Reads the records of tasks that have new events. A backlog is processed in the order of task
 * numbers, and reading many rows at once takes a fourth of the time. So while numbers are
 * consecutive, it reads ahead, twice as far each time.
 */
export class StoredRecords {
  private readonly source: RecordSource;
  private ahead = new Map<number, StoredRecord>();
  private count = 1;
  /** The number that would continue the sequence. */
  private expected = 0;

  constructor(source: RecordSource) {
    this.source = source;
  }

  /** Rows were written, so what was read ahead may be outdated. */
  forget(): void {
    this.ahead.clear();
  }

  /** The record, which the caller now owns and may change. */
  take(number: number): StoredRecord | undefined {
    let stored = this.ahead.get(number);
    if (stored === undefined) {
      this.count = number === this.expected ? Math.min(this.count * 2, AHEAD_MAX) : 1;
      this.ahead = this.source.readAhead(number, this.count);
      stored = this.ahead.get(number);
    }
    this.ahead.delete(number);
    this.expected = number + 1;
    return stored;
  }
}
