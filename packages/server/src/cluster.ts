/** What needs a database: loaded only by servers on one, and by commands that look at one. */
export {
  askHandOff,
  initStoreAt,
  parseStoreAddress,
  StoreAddressError,
  type StoreStatus,
  storeStatus,
} from '@sluice/postgres';
export { ClusterServer } from './cluster-server.ts';
export { type AcceptedLoss, acceptLoss } from './membership/accept-loss.ts';
export { createKeyInStore } from './membership/create-key-in-store.ts';
export { exportStore } from './moving/export-store.ts';
export { importFolder, type MoveResult, type StoreMoveOrder } from './moving/import-folder.ts';
