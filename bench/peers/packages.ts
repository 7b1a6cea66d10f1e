/**
 * The packages of the peers and the servers that they need. They are installed here, never with the
 * product.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPrograms, POSTGRES, type Program } from '../../scripts/system-packages.ts';
import type { StoreName } from './contender.ts';

const FOLDER = join(import.meta.dirname, 'packages');

const REDIS: Program = { name: 'redis-server', packages: ['redis-server'] };

const SERVERS: Readonly<Record<StoreName, readonly Program[]>> = {
  redis: [REDIS],
  'redis-always': [REDIS],
  postgres: [POSTGRES],
  sluice: [],
};

/** Loads a package of a peer. Its types are not installed: each adapter declares what it uses. */
export const requirePeer = createRequire(join(FOLDER, 'package.json'));

/** Installs what contenders with these stores are missing; throws when that fails. */
export function installPeers(stores: readonly StoreName[]): void {
  const servers = new Set(stores.flatMap((store) => SERVERS[store]));
  if (servers.size === 0) return;
  if (!existsSync(join(FOLDER, 'node_modules', '.package-lock.json'))) {
    console.error('installing the peers (once, about 15 s) …');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = spawnSync('npm', args, {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error(`'npm ${args.join(' ')}' in bench/peers/packages failed`);
  }
  if (!installPrograms([...servers])) throw new Error('a server is missing');
}
