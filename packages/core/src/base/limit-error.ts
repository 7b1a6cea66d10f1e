/** Limits that set the length of a table. */
type TableLimit = 'tasksMax' | 'dedupeKeysMax';

/**
 * A table has no free place left. Commands are refused before that, so logged events always fit,
 * unless the limit was lowered since.
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
