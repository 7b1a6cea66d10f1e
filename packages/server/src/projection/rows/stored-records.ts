import type { StoredRecord } from './stored-row.ts';

/** More rows than this are not read at once. */
const AHEAD_MAX = 256;

export interface RecordSource {
  readAhead(number: number, count: number): Map<number, StoredRecord>;
}

/**
 * Reads the records of tasks to which more has happened. A backlog is worked off in the order of
 * its numbers, and many rows at once cost a fourth of what they cost one by one: while numbers
 * follow each other it reads ahead, twice as far each time.
 */
export class StoredRecords {
  private readonly source: RecordSource;
  private ahead = new Map<number, StoredRecord>();
  private count = 1;
  /** The number that would show that they follow each other. */
  private expected = 0;

  constructor(source: RecordSource) {
    this.source = source;
  }

  /** Rows were written: what was read before may be old. */
  forget(): void {
    this.ahead.clear();
  }

  /** The record, which is the caller's from now on: what changes is not seen here. */
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
