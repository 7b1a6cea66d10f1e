import {
  LimitError,
  Partition,
  type PartitionOptions,
  SnapshotError,
  SnapshotVersionError,
} from '@sluice/core';
import {
  type LogExtent,
  type PartitionLog,
  SnapshotDamagedError,
  type SnapshotStore,
} from '@sluice/log';
import type { Notify } from './engine-notice.ts';

/** Snapshots and log do not fit together: starting would lose acknowledged tasks. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}

export interface RecoverySource {
  readonly partition: PartitionOptions;
  /** Absent when there is only the log. */
  readonly snapshots: SnapshotStore | undefined;
  /** The first record that the log holds, and its end. */
  readonly log: LogExtent;
  readonly notify: Notify;
  /** Creates an empty partition; a simulation creates one that it can observe. */
  readonly makePartition?: MakePartition;
}

export type MakePartition = (options: PartitionOptions) => Partition;

/** A partition as of a position of the log; the records after it are still to be replayed. */
export interface RecoveredPartition {
  readonly partition: Partition;
  readonly position: number;
}

/**
 * Loads the newest snapshot that can be loaded, or the one before, or nothing if the log goes back
 * to its beginning. A damaged or unknown snapshot is skipped. A state that does not match the hash
 * of its snapshot is not skipped: that is no disk error, and an older snapshot would lead there as
 * well (L3).
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
  const unusable: UnusableSnapshot[] = [];
  for (const position of positions) {
    try {
      return { partition: await load(source, position), position };
    } catch (cause) {
      if (!isUnusable(cause)) throw cause;
      unusable.push({ position, cause });
      notify({ type: 'snapshot_unusable', position, cause });
    }
  }
  if (log.first === 0) return { partition: empty(source), position: 0 };
  throw new RecoveryError(noSnapshotProblem(log.first, unusable));
}

interface Replayed {
  readonly replayedBytes: number;
  /** The first record that was not replayed. */
  readonly reached: number;
}

/** Recovers a partition and replays the records after its snapshot. Nothing is written. */
export async function replayPartition(
  source: RecoverySource,
  log: Pick<PartitionLog, 'read'>,
): Promise<FollowedPartition> {
  const { partition, position } = await recoverPartition(source);
  return { partition, position, ...(await replayFrom(position, partition, log)) };
}

/** Replays the records from `position` on. */
async function replayFrom(
  position: number,
  partition: Partition,
  log: Pick<PartitionLog, 'read'>,
): Promise<Replayed> {
  let replayedBytes = 0;
  let reached = position;
  await log.read(position, ({ bytes, firstRecord, recordCount }) => {
    withinLimits(() => partition.replay(bytes, firstRecord));
    replayedBytes += bytes.length;
    reached = firstRecord + recordCount;
  });
  return { replayedBytes, reached };
}

/** A partition that has replayed the log up to `reached`. */
export interface FollowedPartition extends RecoveredPartition, Replayed {}

interface RecoveryOptions extends Omit<RecoverySource, 'snapshots' | 'log'> {
  readonly log: PartitionLog;
  readonly snapshots?: { readonly store: SnapshotStore };
  readonly extent?: LogExtent;
  readonly followed?: FollowedPartition;
}

/**
 * Recovers a partition and acquires its log. When the extent of the log is certain, recovery comes
 * first: a version that cannot read the folder then leaves it as it was.
 */
export async function recoverAndAcquire(options: RecoveryOptions) {
  const { log, extent, snapshots, followed, ...rest } = options;
  if (followed !== undefined) return goOnWith(followed, log);
  const early = extent === undefined ? await log.acquire() : undefined;
  const held = (early ?? extent) as LogExtent;
  const source = { ...rest, snapshots: snapshots?.store, log: held };
  const replayed = await replayPartition(source, log);
  const hold = early ?? (await log.acquire());
  // Another holder of this log may have appended until it was fenced.
  const { partition, reached } = replayed;
  if (hold.tail > reached) await replayFrom(reached, partition, log);
  return { ...replayed, hold };
}

/** Acquires the log for a partition that followed it, and replays what it has not seen. */
async function goOnWith(followed: FollowedPartition, log: PartitionLog) {
  const hold = await log.acquire();
  const { partition, reached, replayedBytes } = followed;
  if (hold.tail < reached) {
    throw new RecoveryError(
      `the log ends at ${hold.tail}, but it was read up to ${reached}: it went back in time`,
    );
  }
  if (hold.tail === reached) return { ...followed, hold };
  const last = await replayFrom(reached, partition, log);
  return { ...followed, ...last, replayedBytes: replayedBytes + last.replayedBytes, hold };
}

interface UnusableSnapshot {
  readonly position: number;
  readonly cause: Error;
}

/** Says what to do: start another version, or restore the files. */
function noSnapshotProblem(first: number, unusable: readonly UnusableSnapshot[]): string {
  const gap = `the log begins with record ${first}, and no snapshot of the records before it`;
  if (unusable.length === 0) {
    return `${gap} was found; restore the snapshots that belong to the log, or the whole folder from a backup`;
  }
  const findings = unusable.map(({ position, cause }) => {
    const finding = cause instanceof SnapshotError ? cause.finding : cause.message;
    return `snapshot ${position}: ${finding}`;
  });
  const found = `${gap} can be loaded (${findings.join('; ')})`;
  return unusable.some(({ cause }) => cause instanceof SnapshotVersionError)
    ? `${found}; another version of Sluice saved them, and that version can start on this folder`
    : `${found}; restore the snapshots that belong to the log, or the whole folder from a backup`;
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
 * Explains a `LimitError`: the stored data does not fit because a limit was lowered since. Other
 * errors are passed on unchanged, even if the partition is full: the snapshot may be damaged.
 */
function withinLimits(take: () => void): void {
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
