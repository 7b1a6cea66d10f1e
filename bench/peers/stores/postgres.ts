import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Store } from './store.ts';
import { openStore } from './store-process.ts';

const PROGRAMS = '/usr/lib/postgresql/15/bin';

/**
 * Durability is PostgreSQL's default: fsync and synchronous_commit are on. Memory and checkpoints
 * follow its documentation for real use. There is room for the connections of 200 workers.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  max_connections: '400',
};

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. Then it runs as the user of its package. */
function owner(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const fields = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-postgres-'));
  const user = owner();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Made once, because a new cluster takes two seconds. */
let template: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const folder = join(await makeFolder(), 'data');
  const args = ['-D', folder, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const { status, stderr } = spawnSync(join(PROGRAMS, 'initdb'), args, {
    ...owner(),
    env: {},
    cwd: tmpdir(),
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  return folder;
}

/** Removes the template from which servers are copied. */
export async function removeTemplate(): Promise<void> {
  if (template !== undefined)
    await rm(join(await template, '..'), { recursive: true, force: true });
}

export async function startPostgres(): Promise<Store> {
  template ??= makeTemplate();
  const folder = await makeFolder();
  const data = join(folder, 'data');
  const user = owner();
  await cp(await template, data, { recursive: true, mode: 0, preserveTimestamps: true });
  if (user !== undefined) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, data]);
  spawnSync('chmod', ['700', data]);
  const port = await freePort();
  const settings = { ...SETTINGS, port: String(port), unix_socket_directories: folder };
  const program = {
    command: join(PROGRAMS, 'postgres'),
    args: [
      '-D',
      data,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    options: { ...user, env: {}, cwd: tmpdir() },
    isReady: async () => {
      const args = ['-h', '127.0.0.1', '-p', String(port), '-q'];
      return spawnSync(join(PROGRAMS, 'pg_isready'), args, { env: {} }).status === 0;
    },
    stopSignal: 'SIGQUIT' as const,
  };
  return openStore(program, { address: `postgres://bench@127.0.0.1:${port}/postgres`, folder });
}
