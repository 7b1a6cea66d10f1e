export {
  askHandOff,
  checkStoreAt,
  initStoreAt,
  limitMark,
  type RaisedLevel,
  raiseLevel,
  type ServerStatus,
  type StoreStatus,
  storeDurability,
  storeStatus,
} from './admin/store-admin.ts';
export { beginImport, endImport, StoreNotEmptyError } from './admin/store-import.ts';
export { BlobRows, type BlobRowsOptions } from './blobs/blob-rows.ts';
export { HoldStore, type HoldView, type ServerView } from './hold/hold-store.ts';
export { LineCopies } from './lines/line-copies.ts';
export { type LineEntry, LineRows, type LineRowsOptions } from './lines/line-rows.ts';
export { PostgresLog, type PostgresLogOptions } from './log/postgres-log.ts';
export { writeHalt } from './notes/halt-notes.ts';
export { Notes } from './notes/notes.ts';
export { readSecret, StoreSchemaError } from './schema/store-schema.ts';
export { StoreSettingsError } from './schema/store-settings.ts';
export {
  parseStoreAddress,
  type StoreAddress,
  StoreAddressError,
} from './session/store-address.ts';
export { SyncQueryError, SyncSession } from './session/sync-session.ts';
export {
  PostgresSnapshots,
  type PostgresSnapshotsOptions,
} from './snapshots/postgres-snapshots.ts';

/** The module that the process of a fold loads. */
export const FOLD_MODULE = new URL('./fold-source.ts', import.meta.url).href;
