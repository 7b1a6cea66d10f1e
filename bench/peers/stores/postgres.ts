import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import type { Store } from './store.ts';

/**
 * Durability is PostgreSQL's default: fsync and synchronous_commit are on. Memory and checkpoints
 * follow its documentation for real use. There is room for the connections of 200 workers.
 */
const SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB', max_connections: '400' };

export async function startPostgres(): Promise<Store> {
  const server = await PostgresServer.start(SETTINGS);
  return {
    address: server.address,
    get pid() {
      return server.pid;
    },
    killAndStart: async () => {
      await server.kill();
      await server.resume();
    },
    stop: () => server.stop(),
  };
}
