import type { Slot } from '../base/ids.ts';
import type { Author } from './audit.ts';
export interface Timed {
  readonly now: number;
  readonly namespace: string;
}

/** A change that concerns more than a task: it is recorded who made it. */
export interface Authored {
  readonly by?: Author;
}

/** What became of one task of a command: done, or why not. */
export interface TaskOutcome<Rejection extends string> {
  readonly rejection?: Rejection;
  /** Where the task is; `NO_SLOT` when it is not in memory. */
  readonly slot: Slot;
}
