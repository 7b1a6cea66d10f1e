import { LimitError, Partition, type PartitionOptions, SnapshotError } from '@sluice/core';
import { SnapshotDamagedError, type SnapshotStore } from '@sluice/log';
import type { Notify } from './engine-notice.ts';

/** Snapshots and log do not make a whole: starting would lose tasks that were acknowledged. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}

export interface RecoverySource {
  readonly partition: PartitionOptions;
  /** Absent when there is nothing but the log. */
  readonly snapshots: SnapshotStore | undefined;
  /** The first record that the log holds, and its end. */
  readonly log: { readonly first: number; readonly tail: number };
  readonly notify: Notify;
  /** Makes an empty partition; somebody who wants to watch it makes one of its own kind. */
  readonly makePartition?: MakePartition;
}

export type MakePartition = (options: PartitionOptions) => Partition;

/** A partition as it was at a position of the log; what is behind it is still to be replayed. */
export interface RecoveredPartition {
  readonly partition: Partition;
  readonly position: number;
}

/**
 * Loads the newest snapshot that can be loaded, else the one before, else nothing if the log goes
 * back to its beginning. A damaged or unknown snapshot is passed over. A state that is not what its
 * snapshot says is not: that is no broken disk, and an older one would lead there as well (L3).
 */
export async function recoverPartition(source: RecoverySource): Promise<RecoveredPartition> {
  const { snapshots, log, notify } = source;
  const positions = (await snapshots?.positions()) ?? [];
  const [newest = 0] = positions;
  if (newest > log.tail) {
    throw new RecoveryError(
      `the newest snapshot stands for the records up to ${newest}, but the log ends at ` +
        `${log.tail}: records are missing; restore the log folder that belongs to it`,
    );
  }
  for (const position of positions) {
    try {
      return { partition: await load(source, position), position };
    } catch (cause) {
      if (!isUnusable(cause)) throw cause;
      notify({ type: 'snapshot_unusable', position, cause });
    }
  }
  if (log.first === 0) return { partition: empty(source), position: 0 };
  throw new RecoveryError(
    `the log begins with record ${log.first}, and no snapshot that reaches up to it can be ` +
      `loaded (found: ${positions.join(', ') || 'none'}); restore the snapshots that belong to it`,
  );
}

async function load(source: RecoverySource, position: number): Promise<Partition> {
  const { first } = source.log;
  if (position < first) {
    throw new SnapshotError(`it stands for the records up to ${position}, the log begins later`);
  }
  const partition = empty(source);
  const snapshot = await source.snapshots?.open(position);
  if (snapshot !== undefined) withinLimits(() => partition.load(snapshot));
  return partition;
}

/**
 * Says so when what is stored does not fit because somebody lowered a limit since. Whatever else is
 * wrong is passed on as it is, however full the partition: it may be a snapshot that is damaged.
 */
export function withinLimits(take: () => void): void {
  try {
    take();
  } catch (cause) {
    if (!(cause instanceof LimitError)) throw cause;
    const { limit, max } = cause;
    const problem = `the stored data does not fit into ${limit} (${max}); raise that limit again`;
    throw new RecoveryError(problem, { cause });
  }
}

function empty({ partition, makePartition }: RecoverySource): Partition {
  return makePartition?.(partition) ?? new Partition(partition);
}

function isUnusable(cause: unknown): cause is Error {
  return cause instanceof SnapshotDamagedError || cause instanceof SnapshotError;
}
