import { Worker } from 'node:worker_threads';
import type { PartitionOptions } from '@sluice/core';
import type { FoldOutcome, StartFold } from './fold.ts';

/** Where a thread of its own finds what it folds. */
export interface FoldThreadOptions extends Omit<PartitionOptions, 'utf8'> {
  readonly logFolder: string;
  readonly snapshotFolder: string;
}

export interface FoldThreadData extends FoldThreadOptions {
  readonly upTo: number;
}

/** Folds in a thread that reads the log's folder beside its holder, and ends with each fold. */
export function foldInThread(options: FoldThreadOptions): StartFold {
  return (upTo) => {
    const workerData: FoldThreadData = { ...options, upTo };
    const worker = new Worker(new URL('./fold-thread.ts', import.meta.url), { workerData });
    let outcome: FoldOutcome = { kind: 'failed', reason: 'the thread ended before the fold' };
    worker.once('message', (said: FoldOutcome) => {
      outcome = said;
    });
    worker.once('error', (error: Error) => {
      outcome = { kind: 'failed', reason: error.stack ?? error.message };
    });
    return {
      done: new Promise((resolve) => {
        worker.once('exit', () => resolve(outcome));
      }),
      cancel: async () => {
        await worker.terminate();
      },
    };
  };
}
