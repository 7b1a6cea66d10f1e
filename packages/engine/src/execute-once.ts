import {
  type Command,
  type PartitionOptions,
  type ReadonlyState,
  RecordWriter,
  type Replies,
} from '@sluice/core';
import type { LogExtent, PartitionLog, SnapshotStore } from '@sluice/log';
import type { Request } from './engine.ts';
import { FencedError } from './engine-errors.ts';
import { recoverAndAcquire } from './recovery.ts';

/** A partition whose server is not running. */
export interface RestingPartition {
  readonly log: PartitionLog;
  /** As in `EngineOptions`: nothing is written unless recovery succeeds. */
  readonly extent?: LogExtent;
  readonly partition: PartitionOptions;
  readonly snapshots: SnapshotStore;
  readonly clock: () => number;
  /** Random, below 2^53. */
  readonly nonce: number;
}

/**
 * Executes one command and ends: no timer fires, no session is expected back, no lease is granted.
 * Resolves once the command is durable. If `answer` throws, the log stays unchanged.
 */
export async function executeOnce<C extends Command, T>(
  resting: RestingPartition,
  command: Request<C>,
  answer: (reply: Replies[C['type']], state: ReadonlyState) => T,
): Promise<T> {
  const { log, snapshots, extent } = resting;
  const { partition, hold } = await recoverAndAcquire({
    log,
    ...(extent && { extent }),
    partition: resting.partition,
    snapshots: { store: snapshots },
    // A skipped snapshot is reported by the server, which skips it as well.
    notify: () => undefined,
  });
  const writer = new RecordWriter(resting.partition.utf8);
  const timed = { ...command, now: resting.clock() } as unknown as C;
  const result = answer(partition.execute(timed, writer), partition.state);
  const { recordCount, bytes, length } = writer;
  if (recordCount === 0) return result;
  const outcome = await log.append({
    epoch: hold.epoch,
    expectedTail: hold.tail,
    nonce: resting.nonce,
    recordCount,
    bytes: bytes.subarray(0, length),
  });
  if (outcome === 'ok' || outcome === 'duplicate') return result;
  if (outcome === 'fenced') throw new FencedError('a server took over this partition');
  throw new Error('the disk is full, or does not answer; nothing is known to be stored');
}
