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
export { Forwarder } from './forwarding/forwarder.ts';
export { type AcceptedLoss, acceptLoss, LOSS_NOTE } from './membership/accept-loss.ts';
export { createKeyInStore } from './membership/create-key-in-store.ts';
export { Standby } from './membership/standby.ts';
export { exportStore } from './moving/export-store.ts';
export { importFolder, type MoveResult, type StoreMoveOrder } from './moving/import-folder.ts';
export { PostgresMark } from './projection/postgres/postgres-mark.ts';
export type { ClusterMakers, HostOrder, StartedHost } from './servers/cluster-hosts.ts';
export type { ClusterParts } from './servers/cluster-parts.ts';
export { ClusterServer } from './servers/cluster-server.ts';

/** Makes the tables. False when they are there already. */
export function initStoreAt(address: StoreAddress): Promise<boolean> {
  return initStore(address, LEVEL);
}
