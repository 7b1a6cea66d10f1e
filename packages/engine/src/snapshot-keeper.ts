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
  /** Lets go of the records below `upTo`; never rejects. */
  readonly trim: (upTo: number) => Promise<void>;
  readonly notify: Notify;
  /** Called when the partition must not go on. */
  readonly onBroken: (cause: Error) => void;
}

/**
 * Sees to it that snapshots are made as the log grows, and that the log is trimmed behind them.
 *
 * K1 One fold is under way at a time.
 * K2 The log is kept from the older of two snapshots on, so that the newer may turn out damaged.
 *    The older is the one that the newer was made from: it was read whole. So the log is trimmed
 *    after a fold that saved alone.
 * K3 A fold that fails costs nothing but the log that it would have freed.
 */
export class SnapshotKeeper {
  private readonly options: SnapshotKeeperOptions;
  /** Bytes of log behind the last fold that was started. */
  private unfoldedBytes = 0;
  private fold: Fold | undefined;
  private isClosed = false;

  constructor(options: SnapshotKeeperOptions) {
    this.options = options;
  }

  /** The log goes up to `tail` by now, with so many bytes more than at the last call. */
  grew(tail: number, bytes: number): void {
    this.unfoldedBytes += bytes;
    if (this.unfoldedBytes < this.options.everyBytes) return;
    if (this.fold !== undefined || this.isClosed) return;
    this.unfoldedBytes = 0;
    this.fold = this.options.startFold(tail);
    void this.fold.done.then((outcome) => this.folded(tail, outcome));
  }

  /** Ends a fold that is under way: the next start makes up for it. */
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
