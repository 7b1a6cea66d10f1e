import { type PartitionOptions, SNAPSHOT_SCHEMA, StateHashError } from '@sluice/core';
import type { CommittedRange, SnapshotStore } from '@sluice/log';
import { recoverPartition } from './recovery.ts';

/** The outcome of a fold. Plain data, because it is sent between processes. */
export type FoldOutcome =
  | { readonly kind: 'saved' }
  | { readonly kind: 'failed'; readonly reason: string }
  /**
   * Replaying led to a state other than the recorded one: the live state cannot be trusted (L3).
   */
  | { readonly kind: 'mismatch'; readonly reason: string };

/** A running fold. */
export interface Fold {
  /** Never rejects. */
  readonly done: Promise<FoldOutcome>;
  /** Ends the fold, finished or not; resolves when it has ended. */
  cancel(): Promise<void>;
}

/** Starts to fold the log up to a committed record into the next snapshot. */
export type StartFold = (upTo: number) => Fold;

export interface FoldOrder {
  readonly partition: PartitionOptions;
  readonly snapshots: SnapshotStore;
  readonly readLog: (range: CommittedRange) => Promise<void>;
  readonly upTo: number;
}

/**
 * Makes the next snapshot from the last one and the log after it, with the same `apply` and all
 * hashes checked. The live partition takes no part and is never paused. Each fold also proves that
 * a restart would work (docs/decisions/0007).
 */
export async function foldSnapshot(order: FoldOrder): Promise<FoldOutcome> {
  try {
    await fold(order);
    return { kind: 'saved' };
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    return { kind: cause instanceof StateHashError ? 'mismatch' : 'failed', reason };
  }
}

async function fold({ partition: options, snapshots, readLog, upTo }: FoldOrder): Promise<void> {
  // Reading fails by itself when the log no longer goes back to the end of the snapshot.
  const log = { first: 0, tail: upTo };
  const source = { partition: options, snapshots, log, notify: () => undefined };
  const { partition, position } = await recoverPartition(source);
  await readLog({
    from: position,
    upTo,
    onBatch: ({ bytes, firstRecord }) => partition.replay(bytes, firstRecord),
  });
  const header = { position: upTo, schema: SNAPSHOT_SCHEMA, hash: partition.hashState() };
  await snapshots.save({ ...header, base: position }, (write) => partition.save(write));
}
