import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { initStoreAt, parseStoreAddress } from '@sluice/server/cluster';
import { ClusterProcesses } from '../../tests/support/cluster-processes.ts';
import { ServerProcess } from '../../tests/support/server-process.ts';

/** Servers, and the address that is measured. */
export interface Setup {
  readonly url: string;
  stop(): Promise<void>;
}

async function embedded(): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const server = await ServerProcess.startServer(folder, '--log-level', 'error');
  const stop = async () => {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

/** A PostgreSQL and servers on it. */
export class BenchCluster {
  readonly servers: ClusterProcesses;
  /** The address of the store. */
  readonly store: string;
  private readonly database: PostgresServer;

  private constructor(database: PostgresServer, store: string, servers: ClusterProcesses) {
    this.database = database;
    this.store = store;
    this.servers = servers;
  }

  static async start(count: number): Promise<BenchCluster> {
    const database = await PostgresServer.start();
    const store = `${database.address}?schema=bench`;
    await initStoreAt(parseStoreAddress(store));
    return new BenchCluster(database, store, await ClusterProcesses.start(store, count));
  }

  /** Process of the database. */
  get databasePid(): number {
    return this.database.pid;
  }

  async stop(): Promise<void> {
    await this.servers.dispose();
    await this.database.stop();
  }
}

async function owner(): Promise<Setup> {
  const cluster = await BenchCluster.start(1);
  return { url: (await cluster.servers.owner()).url, stop: () => cluster.stop() };
}

async function forwarder(): Promise<Setup> {
  const cluster = await BenchCluster.start(2);
  return { url: (await cluster.servers.standby()).url, stop: () => cluster.stop() };
}

export const SETUPS: Readonly<Record<string, () => Promise<Setup>>> = {
  embedded,
  owner,
  forwarder,
};
