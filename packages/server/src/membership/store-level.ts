import { LEVEL } from '@sluice/core';
import { HoldStore, type StoreAddress } from '@sluice/postgres';

/** This version is older than what the servers of the cluster write (level.waits). */
export class StoreLevelError extends Error {
  override readonly name = 'StoreLevelError';

  constructor({ shown }: StoreAddress, level: number) {
    super(
      `the store in ${shown} is at level ${level}, and this version knows ${LEVEL} and older ` +
        'ones; run the version of its other servers',
    );
  }
}

/** Rejects, and closes what was opened before, when this version is too old for the cluster. */
export async function openHolds(
  address: StoreAddress,
  runId: string,
  opened: { close(): Promise<void> },
): Promise<HoldStore> {
  const holds = new HoldStore(address, runId);
  const { level } = await holds.look();
  if (level <= LEVEL) return holds;
  await holds.close();
  await opened.close();
  throw new StoreLevelError(address, level);
}
