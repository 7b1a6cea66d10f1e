import type { SnapshotStore } from '@sluice/log';
import type { Notify } from './engine-notice.ts';
import type { Fold, FoldOutcome, StartFold } from './fold.ts';

export interface SnapshotOptions {
  readonly store: SnapshotStore;
  readonly startFold: StartFold;
  /** Bytes of log after which the next snapshot is due. */
  readonly everyBytes: number;
}

export interface SnapshotKeeperOptions extends SnapshotOptions {
  /** Trims the records below `upTo`; never rejects. */
  readonly trim: (upTo: number) => Promise<void>;
  readonly notify: Notify;
  /** Called when the partition must stop. */
  readonly onBroken: (cause: Error) => void;
}

/**
 * Starts folds as the log grows, and trims the log behind the snapshots.
 *
 * - Only one fold runs at a time.
 * snapshots.older-log: The log is kept from the older of two snapshots on, in case the newer one
 *   turns out damaged. The older one is the base of the newer one, so it was read completely. The
 *   log is therefore trimmed only after a fold that saved.
 * - A failed fold costs only the log space that it would have freed.
 */
export class SnapshotKeeper {
  private readonly options: SnapshotKeeperOptions;
  /** Bytes of log since the last fold was started. */
  private unfoldedBytes = 0;
  private fold: Fold | undefined;
  private isClosed = false;

  constructor(options: SnapshotKeeperOptions) {
    this.options = options;
  }

  /** The log now ends at `tail` and has grown by `bytes` since the last call. */
  grew(tail: number, bytes: number): void {
    this.unfoldedBytes += bytes;
    if (this.unfoldedBytes < this.options.everyBytes) return;
    if (this.fold !== undefined || this.isClosed) return;
    this.unfoldedBytes = 0;
    this.fold = this.options.startFold(tail);
    void this.fold.done.then((outcome) => this.folded(tail, outcome));
  }

  /** Ends a running fold: the next start makes up for it. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.fold?.cancel();
  }

  private async folded(position: number, outcome: FoldOutcome): Promise<void> {
    const { notify, onBroken } = this.options;
    if (this.isClosed) return;
    if (outcome.kind === 'mismatch') return onBroken(new Error(outcome.reason));
    if (outcome.kind === 'failed') notify({ type: 'fold_failed', reason: outcome.reason });
    else {
      notify({ type: 'snapshot_saved', position });
      const [, older] = await this.positions();
      if (older !== undefined) await this.options.trim(older);
    }
    this.fold = undefined;
  }

  private async positions(): Promise<readonly number[]> {
    try {
      return await this.options.store.positions();
    } catch (cause) {
      this.options.notify({ type: 'fold_failed', reason: String(cause) });
      return [];
    }
  }
}
