import type { PartitionOptions } from '@sluice/core';
import { MemoryLog, type MemoryLogStore, type SnapshotStore } from '@sluice/log';
import { type FoldOutcome, foldSnapshot, type StartFold } from '../fold.ts';

interface FoldParts {
  readonly partition: PartitionOptions;
  readonly snapshots: SnapshotStore;
  readonly log: MemoryLogStore;
}

/** Folds that start when the test says so, in its own thread. */
export class ManualFolds {
  /** End positions of the started folds, in order. */
  readonly started: number[] = [];
  cancelled = 0;
  private readonly waiting: (() => Promise<void>)[] = [];

  starter({ partition, snapshots, log }: FoldParts): StartFold {
    return (upTo) => {
      this.started.push(upTo);
      const { promise: done, resolve } = Promise.withResolvers<FoldOutcome>();
      this.waiting.push(async () => {
        const readLog: Parameters<typeof foldSnapshot>[0]['readLog'] = ({ from, onBatch }) =>
          new MemoryLog(log).read(from, (batch) => {
            if (batch.firstRecord < upTo) onBatch(batch);
          });
        resolve(await foldSnapshot({ partition, snapshots, readLog, upTo }));
      });
      return {
        done,
        cancel: async () => {
          this.cancelled += 1;
          resolve({ kind: 'failed', reason: 'cancelled' });
        },
      };
    };
  }

  /** Runs the oldest waiting fold to its end. */
  async run(): Promise<void> {
    const fold = this.waiting.shift();
    if (fold === undefined) throw new Error('no fold was started');
    await fold();
  }
}
