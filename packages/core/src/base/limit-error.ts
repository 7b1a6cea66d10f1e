/** Limits that are the length of a table. */
type TableLimit = 'tasksMax' | 'dedupeKeysMax';

/**
 * Something needs more places than its table has. Commands are refused before it comes to that, so
 * what was written down fits, unless the limit has been lowered since.
 */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly limit: TableLimit;
  readonly max: number;

  constructor(limit: TableLimit, max: number) {
    super(`the limit ${limit} (${max}) is reached`);
    this.limit = limit;
    this.max = max;
  }
}
