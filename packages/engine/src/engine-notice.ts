/** What an operator may want to know and no caller hears of. */
export type EngineNotice =
  /** A start has all that the log holds: from a snapshot, and from the records behind it. */
  | {
      readonly type: 'recovered';
      readonly snapshot: number;
      readonly tail: number;
      readonly replayedBytes: number;
    }
  | { readonly type: 'snapshot_saved'; readonly position: number }
  | { readonly type: 'log_trimmed'; readonly upTo: number }
  /** A start passed over a snapshot and goes back to an older one, or to the log alone. */
  | { readonly type: 'snapshot_unusable'; readonly position: number; readonly cause: Error }
  /** No snapshot came of it; the log is kept, and the next try comes after more of it. */
  | { readonly type: 'fold_failed'; readonly reason: string };

export type Notify = (notice: EngineNotice) => void;
