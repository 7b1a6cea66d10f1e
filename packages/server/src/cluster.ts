/** What needs a database: loaded only by servers on one, and by commands that look at one. */
import { LEVEL } from '@sluice/core';
import { initStoreAt as initStore, type StoreAddress } from '@sluice/postgres';

export {
  askHandOff,
  parseStoreAddress,
  raiseLevel,
  StoreAddressError,
  type StoreStatus,
  storeStatus,
} from '@sluice/postgres';
export { ClusterServer } from './cluster-server.ts';
export { type AcceptedLoss, acceptLoss } from './membership/accept-loss.ts';
export { createKeyInStore } from './membership/create-key-in-store.ts';
export { exportStore } from './moving/export-store.ts';
export { importFolder, type MoveResult, type StoreMoveOrder } from './moving/import-folder.ts';

/** Makes the tables. False when they are there already. */
export function initStoreAt(address: StoreAddress): Promise<boolean> {
  return initStore(address, LEVEL);
}
