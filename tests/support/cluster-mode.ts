import { createHash } from 'node:crypto';
import { inject } from 'vitest';

/**
 * With this variable, tests that start a server get two servers on PostgreSQL, and talk to the one
 * that does not own the partition. The project `cluster` in vitest.config.ts sets it.
 */
const VARIABLE = 'SLUICE_TEST_CLUSTER';

export function isClusterMode(): boolean {
  return process.env[VARIABLE] === '1';
}

/** The store that stands for a data folder: the same folder has the same store. */
export async function storeFor(dataFolder: string): Promise<string> {
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const store = `${inject('postgresAddress')}?schema=e2e_${name}`;
  // Loaded on demand: most tests have no cluster.
  const { initStoreAt, parseStoreAddress } = await import('@sluice/server/cluster');
  await initStoreAt(parseStoreAddress(store));
  return store;
}
