import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldStore, PostgresLog, PostgresSnapshots, type StoreAddress } from '@sluice/postgres';

/** Log and snapshots of a store that no server holds. */
export interface FreeStore {
  readonly log: PostgresLog;
  readonly snapshots: PostgresSnapshots;
}

/**
 * Holds the partition for as long as `use` takes. Rejects when a server holds it; `instead` says
 * what to do then.
 */
export async function withFreeStore<T>(
  address: StoreAddress,
  instead: string,
  use: (store: FreeStore) => Promise<T>,
): Promise<T> {
  const hold = new HoldStore(address, randomUUID());
  try {
    const seen = await hold.look();
    const isFree = seen.runId === undefined;
    const epoch = isFree || seen.isExpired ? await hold.claim(seen, '', isFree) : undefined;
    if (epoch === undefined)
      throw new Error(`a server owns the partition in this store; ${instead}`);
    try {
      return await useUnder(address, epoch, use);
    } finally {
      await hold.release(epoch);
    }
  } finally {
    await hold.close();
  }
}

async function useUnder<T>(
  address: StoreAddress,
  epoch: number,
  use: (store: FreeStore) => Promise<T>,
): Promise<T> {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'sluice-store-'));
  const log = await PostgresLog.open({ address, epoch });
  const snapshots = await PostgresSnapshots.open({ address, scratchFolder });
  try {
    return await use({ log, snapshots });
  } finally {
    await log.close();
    await snapshots.close();
  }
}
