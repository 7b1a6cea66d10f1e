import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  private started = 0;
  /** Ports of servers that ended. */
  private readonly freePorts: string[] = [];

  private constructor(store: string, folder: string) {
    this.store = store;
    this.folder = folder;
  }

  /** `store` is the address of a store with tables. */
  static async start(store: string, count: number): Promise<ClusterProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-cluster-'));
    const cluster = new ClusterProcesses(store, folder);
    for (let n = 0; n < count; n++) await cluster.add();
    return cluster;
  }

  /** A server that replaces one that ended has its port. */
  async add(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const data = join(this.folder, String(this.started));
    this.started += 1;
    const flags = ['--store', this.store, '--port', this.freePorts.pop() ?? '0'];
    const args = ['server', '--data', data, ...flags];
    const server = await ServerProcess.start({ command: LAUNCHER, args, env });
    this.servers.push(server);
    return server;
  }

  /** Waits until exactly one server says that it is the owner. */
  async owner(): Promise<ServerProcess> {
    let found: ServerProcess | undefined;
    await waitUntil(
      async () => {
        const roles = await Promise.all(this.servers.map(roleOf));
        const owners = this.servers.filter((_, place) => roles[place] === 'owner');
        [found] = owners;
        return owners.length === 1;
      },
      { what: 'one server is the owner', timeoutMs: TAKEOVER_MS_MAX },
    );
    return found as ServerProcess;
  }

  /** A server that is not the owner. */
  async standby(): Promise<ServerProcess> {
    const owner = await this.owner();
    return this.servers.find((each) => each !== owner) as ServerProcess;
  }

  /** Kills a server like a power cut. */
  async kill(server: ServerProcess): Promise<void> {
    await server.kill();
    this.forget(server);
  }

  /** Stops a server as an operator does. Returns how it ended. */
  async stop(server: ServerProcess): Promise<NodeJS.Signals | number | null> {
    server.signal('SIGTERM');
    const how = await server.exited();
    this.forget(server);
    return how;
  }

  private forget(server: ServerProcess): void {
    this.servers.splice(this.servers.indexOf(server), 1);
    this.freePorts.push(new URL(server.url).port);
  }

  async dispose(): Promise<void> {
    for (const server of this.servers.splice(0)) await server.kill();
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
