import { type PartitionOptions, SNAPSHOT_SCHEMA, StateHashError } from '@sluice/core';
import type { CommittedRange, SnapshotStore } from '@sluice/log';
import { recoverPartition } from './recovery.ts';

/** What became of a fold. Plain, because it crosses processes. */
export type FoldOutcome =
  | { readonly kind: 'saved' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Replaying led to another state than the log says: the live one cannot be trusted (L3). */
  | { readonly kind: 'mismatch'; readonly reason: string };

/** A fold under way. */
export interface Fold {
  /** Never rejects. */
  readonly done: Promise<FoldOutcome>;
  /** Ends it, finished or not, and answers when it is over. */
  cancel(): Promise<void>;
}

/** Begins to fold the log up to a record, which is committed, into the next snapshot. */
export type StartFold = (upTo: number) => Fold;

export interface FoldOrder {
  readonly partition: PartitionOptions;
  readonly snapshots: SnapshotStore;
  readonly readLog: (range: CommittedRange) => Promise<void>;
  readonly upTo: number;
}

/**
 * Makes the next snapshot from the last one and the log behind it, by the same `apply` and with all
 * hashes checked. The live partition has no part in it and is never paused; and what a restart
 * would do is proved again and again (docs/decisions/0007).
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
  // Reading says by itself when the log no longer goes back to where the snapshot ends.
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
