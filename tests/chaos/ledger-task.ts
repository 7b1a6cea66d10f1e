/** The tasks of the load: each one says which it is, so that its output can be foretold. */

export const TASK_TYPE = 'ledger';

export interface LedgerInput {
  /** The number of the submit that brought the task; no submit is ever sent twice. */
  readonly batch: number;
  /** The task's place in that submit. */
  readonly index: number;
  /** How many tasks that submit brought. */
  readonly size: number;
}

export interface LedgerOutput {
  readonly batch: number;
  readonly index: number;
  readonly checksum: number;
}

/** What the handler makes of an input. */
export function outputOf({ batch, index }: Omit<LedgerInput, 'size'>): LedgerOutput {
  return { batch, index, checksum: (batch * 31 + index * 7) % 9973 };
}
