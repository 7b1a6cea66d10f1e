import { type StoreAddress, StoreSettingsError, storeDurability } from '@sluice/postgres';
import type { Configuration } from '../config/settings.ts';
import type { ServerLog } from '../observation/server-log.ts';

/** What the loss of the database's machine can take. */
export type Durability = Exclude<Configuration['durability'], 'auto'>;

/**
 * What was declared, or what the database says of itself. Rejects when a synchronous replica was
 * declared and the database waits for none.
 */
export async function settledDurability(
  address: StoreAddress,
  declared: Configuration['durability'],
  log: ServerLog,
): Promise<Durability> {
  if (declared === 'storage' || declared === 'single') return declared;
  const { kind } = await storeDurability(address);
  if (kind === 'single' && declared === 'synchronous') {
    throw new StoreSettingsError(address, [
      "'synchronous_standby_names' is empty, but durability is 'synchronous': name a replica, or " +
        "declare 'storage' or 'single'",
    ]);
  }
  if (kind === 'single') {
    log.line(
      'warn',
      'the database waits for no replica: what was acknowledged last is lost with its machine. ' +
        "Set durability to 'storage' if its storage is replicated, or to 'single' to accept this",
    );
  }
  return kind;
}
