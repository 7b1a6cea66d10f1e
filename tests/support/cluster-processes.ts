import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CuttingProxy } from '@sluice/postgres/testing/cutting-proxy';
import { ServerProcess } from './server-process.ts';
import { LAUNCHER } from './sluice-command.ts';
import { waitUntil } from './wait-until.ts';

/** Longer than a takeover takes on a busy machine. */
const TAKEOVER_MS_MAX = 60_000;

/** Servers of one store, each a process. */
export class ClusterProcesses {
  readonly servers: ServerProcess[] = [];
  private readonly store: string;
  private readonly folder: string;
  private readonly isBehindProxies: boolean;
  /** Empty unless the servers are behind proxies. */
  private readonly proxies = new Map<ServerProcess, CuttingProxy>();
  private started = 0;
  /** Ports of servers that ended. */
  private readonly freePorts: string[] = [];

  private constructor(store: string, folder: string, isBehindProxies: boolean) {
    this.store = store;
    this.folder = folder;
    this.isBehindProxies = isBehindProxies;
  }

  /**
   * `store` is the address of a store with tables. Each server has a proxy before it if they are
   * behind proxies.
   */
  static async start(
    store: string,
    count: number,
    { isBehindProxies = false } = {},
  ): Promise<ClusterProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-cluster-'));
    const cluster = new ClusterProcesses(store, folder, isBehindProxies);
    for (let n = 0; n < count; n++) await cluster.add();
    return cluster;
  }

  /** A server that replaces one that ended has its port. */
  async add(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const data = join(this.folder, String(this.started));
    this.started += 1;
    const proxy = this.isBehindProxies ? await CuttingProxy.startBefore(this.store) : undefined;
    const store = proxy?.address ?? this.store;
    const flags = ['--store', store, '--port', this.freePorts.pop() ?? '0'];
    const args = ['server', '--data', data, ...flags];
    const server = await ServerProcess.start({ command: LAUNCHER, args, env });
    this.servers.push(server);
    if (proxy !== undefined) this.proxies.set(server, proxy);
    return server;
  }

  /** Waits until exactly one server says that it is the owner. */
  async owner(): Promise<ServerProcess> {
    let found: ServerProcess | undefined;
    await waitUntil(
      async () => {
        const owners = await this.owners();
        [found] = owners;
        return owners.length === 1;
      },
      { what: 'one server is the owner', timeoutMs: TAKEOVER_MS_MAX },
    );
    return found as ServerProcess;
  }

  /** Waits until another server says that it is the owner, whatever this one says. */
  async ownerBeside(server: ServerProcess): Promise<void> {
    await waitUntil(async () => (await this.owners()).some((owner) => owner !== server), {
      what: 'another server is the owner',
      timeoutMs: TAKEOVER_MS_MAX,
    });
  }

  /** A server that is not the owner. */
  async standby(): Promise<ServerProcess> {
    const owner = await this.owner();
    return this.servers.find((each) => each !== owner) as ServerProcess;
  }

  /** What stands between a server and the database. */
  proxyOf(server: ServerProcess): CuttingProxy {
    const proxy = this.proxies.get(server);
    if (proxy === undefined) throw new Error('these servers are behind no proxies');
    return proxy;
  }

  /** Kills a server like a power cut. */
  async kill(server: ServerProcess): Promise<void> {
    await server.kill();
    await this.forget(server);
  }

  /** Stops a server as an operator does. Returns how it ended. */
  async stop(server: ServerProcess): Promise<NodeJS.Signals | number | null> {
    server.signal('SIGTERM');
    const how = await server.exited();
    await this.forget(server);
    return how;
  }

  /** An owner that was replaced does not know it while it is cut off. */
  private async owners(): Promise<ServerProcess[]> {
    const roles = await Promise.all(this.servers.map(roleOf));
    return this.servers.filter((_, place) => roles[place] === 'owner');
  }

  private async forget(server: ServerProcess): Promise<void> {
    this.servers.splice(this.servers.indexOf(server), 1);
    this.freePorts.push(new URL(server.url).port);
    await this.proxies.get(server)?.stop();
    this.proxies.delete(server);
  }

  async dispose(): Promise<void> {
    for (const server of [...this.servers]) await this.kill(server);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Undefined when it does not answer. */
async function roleOf({ url }: ServerProcess): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url}/health/role`, { signal: AbortSignal.timeout(2000) });
    return ((await answer.json()) as { role: string }).role;
  } catch {
    return undefined;
  }
}
