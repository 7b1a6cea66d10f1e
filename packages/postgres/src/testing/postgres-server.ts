/**
 * A real PostgreSQL for tests and benchmarks, on loopback, in a temporary folder.
 *
 * A guard process owns the clean-up: it waits for the end of its input, stops every server below
 * the folder and removes the folder. Its input ends with `stop`, and also when the process that
 * started it is killed, so that no server outlives its test run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const READY_MS_MAX = 60_000;
const POLL_MS = 20;
const USER = 'sluice';
const INSTALLED = '/usr/lib/postgresql';

/**
 * An immediate shutdown also ends children that are stopped, after five seconds. The state of a
 * server that ended shows as zombie while nobody has waited for it.
 */
const GUARD = `cat > /dev/null
for file in "$0"/*/postmaster.pid; do
  [ -f "$file" ] || continue
  pid=$(head -n 1 "$file")
  grep -qs '^Name:.postgres$' "/proc/$pid/status" || continue
  kill -QUIT "$pid"
  while grep -qs '^State:.[^XZ]' "/proc/$pid/status"; do sleep 0.02; done
done
rm -rf "$0"`;

export type ServerSettings = Readonly<Record<string, string>>;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface NewServer {
  readonly guard: ChildProcess;
  readonly data: string;
  readonly port: number;
  readonly settings: ServerSettings;
}

/** Folder of the newest installed PostgreSQL. Debian puts its programs on no path. */
function programs(): string {
  const versions = readdirSync(INSTALLED).map(Number).filter(Number.isInteger);
  return join(INSTALLED, String(Math.max(...versions)), 'bin');
}

/** PostgreSQL refuses to run as root. Then it runs as the user of its package. */
function owner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const fields = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Calls a program of PostgreSQL and throws if it fails. */
function call(program: string, ...args: readonly string[]): void {
  const options = { ...owner(), env: {}, cwd: tmpdir(), encoding: 'utf8' } as const;
  const { status, stderr, error } = spawnSync(join(programs(), program), args, options);
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

export class PostgresServer {
  readonly #guard: ChildProcess;
  readonly #data: string;
  readonly #port: number;
  readonly #settings: ServerSettings;
  /** Undefined while the server is down. */
  #child: ChildProcess | undefined;

  private constructor({ guard, data, port, settings }: NewServer) {
    this.#guard = guard;
    this.#data = data;
    this.#port = port;
    this.#settings = settings;
  }

  /** Starts a fresh, empty server. Durability is PostgreSQL's default: fsync is on. */
  static async start(settings: ServerSettings = {}): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
    const user = owner();
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    // Apart from this process's group: what interrupts a test run must not end the guard.
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    const guard = spawn('sh', ['-c', GUARD, folder], { stdio: [...stdio], detached: true });
    const data = join(folder, 'data');
    call('initdb', '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync');
    const server = new PostgresServer({ guard, data, port: await freePort(), settings });
    await server.resume();
    return server;
  }

  /** A copy of this server that follows it, known to it as `name`. It ends with this server. */
  async replica(name: string): Promise<PostgresServer> {
    const data = join(this.#data, '..', name);
    const source = `${this.#connection} application_name=${name}`;
    // The test waits for replicas itself: the copy must not wait for one.
    call('pg_basebackup', '-D', data, '-d', source, '-R', '-c', 'fast', '--no-sync');
    const settings = { ...this.#settings, hot_standby: 'on', synchronous_standby_names: '' };
    const replica = new PostgresServer({
      guard: this.#guard,
      data,
      port: await freePort(),
      settings,
    });
    await replica.resume();
    return replica;
  }

  /** A new folder below another one, which every server of tests may use. */
  static folderIn(parent: string): string {
    const folder = join(parent, 'tables');
    mkdirSync(folder);
    chmodSync(parent, 0o755);
    const user = owner();
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    return folder;
  }

  get address(): string {
    return `postgres://${USER}@127.0.0.1:${this.#port}/postgres`;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts the server again on its data. */
  async resume(): Promise<void> {
    const folder = join(this.#data, '..');
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
      unix_socket_directories: folder,
      ...this.#settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(programs(), 'postgres'), ['-D', this.#data, ...flags], {
      ...owner(),
      env: {},
      cwd: tmpdir(),
      stdio: 'ignore',
    });
    this.#child = child;
    const until = performance.now() + READY_MS_MAX;
    while (!this.#isReady()) {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`);
      if (performance.now() > until) throw new Error('postgres does not become ready');
      await sleep(POLL_MS);
    }
  }

  /** Kills it without warning, with all its children: they hold what the next one needs. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    // Stopped first, so that it cannot start more children.
    process.kill(child.pid, 'SIGSTOP');
    const children = await childrenOf(child.pid);
    const ended = once(child, 'exit');
    for (const pid of [child.pid, ...children]) kill(pid);
    await ended;
    for (const pid of children) while (await isRunning(pid)) await sleep(POLL_MS);
    this.#child = undefined;
  }

  /** Ends the server and its replicas and removes their data. */
  async stop(): Promise<void> {
    const ended = once(this.#guard, 'exit');
    this.#guard.stdin?.end();
    await ended;
  }

  get #connection(): string {
    return `host=127.0.0.1 port=${this.#port} user=${USER}`;
  }

  #isReady(): boolean {
    const args = ['-h', '127.0.0.1', '-p', String(this.#port), '-q'];
    return spawnSync(join(programs(), 'pg_isready'), args, { env: {} }).status === 0;
  }
}

/** Every process of a server is a child of its first one. */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = await Promise.all(pids.map(async (pid) => (await statOf(pid))[1]));
  return pids.filter((_, index) => Number(parents[index]) === parent);
}

/** The fields of proc(5) from the third on; none when the process has ended. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function isRunning(pid: number): Promise<boolean> {
  const [state] = await statOf(pid);
  return state !== '' && state !== 'Z';
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (cause) {
    // It may have ended by itself meanwhile.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
}
