/** Events that operators may want to know about and that no caller is told of. */
export type EngineNotice =
  /** Recovery is complete: from a snapshot and the records after it. */
  | {
      readonly type: 'recovered';
      readonly snapshot: number;
      readonly tail: number;
      readonly replayedBytes: number;
    }
  | { readonly type: 'snapshot_saved'; readonly position: number }
  | { readonly type: 'log_trimmed'; readonly upTo: number }
  /** Recovery skipped a snapshot and uses an older one, or only the log. */
  | { readonly type: 'snapshot_unusable'; readonly position: number; readonly cause: Error }
  /** The fold saved no snapshot. The log is kept, and the next try comes after more of it. */
  | { readonly type: 'fold_failed'; readonly reason: string };

export type Notify = (notice: EngineNotice) => void;
