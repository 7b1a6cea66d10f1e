/** The time in which no other server can hold the partition (engine.term). */
export interface Term {
  isOver(): boolean;
  /** Calls `release` when the hold is renewed, or `drop` when that takes too long. */
  whenRenewed(release: () => void, drop: (cause: Error) => void): void;
}
