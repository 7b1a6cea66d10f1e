import { randomInt } from 'node:crypto';
import {
  type LogExtent,
  type PartitionLog,
  SnapshotDamagedError,
  type SnapshotStore,
  STOP_READING,
  type StoredBatch,
} from '@sluice/log';
import type { MoveProgress } from './moved-data.ts';

/** Bytes of batches in memory, unless one batch is larger. */
const PART_BYTES = 16 * 2 ** 20;

/** Copies the batches one by one, with the same bytes. The copy begins where the source does. */
export async function copyLog(
  source: { readonly log: Pick<PartitionLog, 'read'>; readonly extent: LogExtent },
  target: PartitionLog,
  progress: MoveProgress,
): Promise<void> {
  const { first, tail } = source.extent;
  const hold = await target.acquire();
  if (hold.tail !== first) throw new Error(`the copy begins at ${hold.tail} instead of ${first}`);
  for (let next = first; next < tail; ) {
    for (const { firstRecord, recordCount, bytes } of await readPart(source.log, next)) {
      await append(target, {
        epoch: hold.epoch,
        expectedTail: firstRecord,
        nonce: randomInt(2 ** 48 - 1),
        recordCount,
        bytes,
      });
      next = firstRecord + recordCount;
      progress.add('records', { records: recordCount, bytes: bytes.length });
    }
  }
}

async function readPart(log: Pick<PartitionLog, 'read'>, from: number): Promise<StoredBatch[]> {
  const batches: StoredBatch[] = [];
  let bytes = 0;
  await log.read(from, (batch) => {
    if (bytes >= PART_BYTES) return STOP_READING;
    // The memory of a batch is used again after this call.
    batches.push({ ...batch, bytes: Uint8Array.from(batch.bytes) });
    bytes += batch.bytes.length;
    return undefined;
  });
  return batches;
}

async function append(
  log: PartitionLog,
  batch: Parameters<PartitionLog['append']>[0],
): Promise<void> {
  for (;;) {
    const outcome = await log.append(batch);
    if (outcome === 'ok' || outcome === 'duplicate') return;
    if (outcome === 'fenced') throw new Error('another process has claimed the log meanwhile');
    if (outcome === 'full') throw new Error('there is no room left; make room and try again');
    // Unknown: the same batch again.
  }
}

/** Copies the snapshots up to the one that recovery loaded, the oldest first. */
export async function copySnapshots(
  source: SnapshotStore,
  target: SnapshotStore,
  { upTo, progress }: { readonly upTo: number; readonly progress: MoveProgress },
): Promise<void> {
  const positions = (await source.positions()).filter((position) => position <= upTo).reverse();
  let base = 0;
  for (const position of positions) {
    try {
      await copySnapshot(source, target, { position, base, progress });
      base = position;
    } catch (cause) {
      // The newest was just loaded; an older one is a reserve.
      if (position === upTo || !(cause instanceof SnapshotDamagedError)) throw cause;
    }
  }
}

async function copySnapshot(
  source: SnapshotStore,
  target: SnapshotStore,
  {
    position,
    base,
    progress,
  }: { readonly position: number; readonly base: number; readonly progress: MoveProgress },
): Promise<void> {
  const { schema, hash, pieces } = await source.open(position);
  let bytes = 0;
  await target.save({ position, schema, hash, base }, (write) => {
    for (const piece of pieces) {
      write(piece);
      bytes += piece.length;
    }
  });
  progress.add('snapshots', { bytes });
}
