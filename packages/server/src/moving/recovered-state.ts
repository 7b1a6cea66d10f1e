import { replayPartition } from '@sluice/engine';
import type { LogExtent, PartitionLog, SnapshotStore } from '@sluice/log';
import { UTF8 } from '../base/utf8.ts';
import { EMBEDDED_PARTITION } from '../config/embedded-partition.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';

/** A log and its snapshots, which nobody writes. */
export interface RestingSide {
  readonly log: Pick<PartitionLog, 'read'>;
  readonly extent: LogExtent;
  readonly snapshots: SnapshotStore;
}

export interface RecoveredState {
  /** The hash of the whole state. */
  readonly hash: number;
  /** The end of the log. */
  readonly tail: number;
  /** Of the snapshot that was loaded; 0 when there was none. */
  readonly position: number;
  /** Tasks in memory, finished or not. */
  readonly tasks: number;
}

/** Recovers a partition as a server would, and keeps only what is compared. */
export async function recoverState(
  { log, extent, snapshots }: RestingSide,
  settings: LimitSettings,
): Promise<RecoveredState> {
  const source = {
    partition: {
      partition: EMBEDDED_PARTITION,
      limits: partitionLimits(settings),
      utf8: UTF8,
    },
    snapshots,
    log: extent,
    // A server reports a snapshot that it skips.
    notify: () => undefined,
  };
  const { partition, position, reached } = await replayPartition(source, log);
  const tasks = partition.state.tasks.count;
  return { hash: partition.hashState(), tail: reached, position, tasks };
}

/** Rejects unless both sides led to the same state. */
export function compareStates(source: RecoveredState, copy: RecoveredState): void {
  if (source.hash === copy.hash && source.tail === copy.tail) return;
  throw new Error(
    `the copy has state ${hex(copy.hash)} at record ${copy.tail}, but the source has ` +
      `${hex(source.hash)} at ${source.tail}: this is a bug, please report it`,
  );
}

function hex(hash: number): string {
  return hash.toString(16);
}
