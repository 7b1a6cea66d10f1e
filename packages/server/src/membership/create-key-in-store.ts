import type { StoreAddress } from '@sluice/postgres';
import { createKeyAt, type PlaceOfKeys } from '../access/create-key.ts';
import { withFreeStore } from './free-store.ts';

export interface StoreOfKeys extends Omit<PlaceOfKeys, 'log' | 'extent' | 'snapshots'> {
  readonly address: StoreAddress;
}

/** Creates a key in the store of servers that do not run, as `createKeyIn` does in a folder. */
export function createKeyInStore(store: StoreOfKeys, request: unknown): Promise<object> {
  return withFreeStore(store.address, 'create the key through it, with --url', (free) =>
    createKeyAt({ ...store, ...free }, request, 'store'),
  );
}
