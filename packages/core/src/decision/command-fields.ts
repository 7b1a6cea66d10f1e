import type { Slot } from '../base/ids.ts';
import type { Author } from './audit.ts';
export interface Timed {
  readonly now: number;
  readonly namespace: string;
}

/** A change that affects more than one task. Its author is recorded. */
export interface Authored {
  readonly by?: Author;
}

/** The outcome for one task of a command. */
export interface TaskOutcome<Rejection extends string> {
  readonly rejection?: Rejection;
  /** Slot of the task; `NO_SLOT` when it is not in memory. */
  readonly slot: Slot;
}
