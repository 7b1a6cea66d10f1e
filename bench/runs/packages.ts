/** The workflow engines that runs are compared with. They are installed here, on first use. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPeers } from '../peers/packages.ts';

const FOLDER = join(import.meta.dirname, 'packages');

/** Loads a package of a peer. Its types are not installed: each contender declares what it uses. */
export const requireWorkflowPeer = createRequire(join(FOLDER, 'package.json'));

/** The path of a program that a package brings. */
export function programOf(name: string): string {
  return join(FOLDER, 'node_modules', '.bin', name);
}

/** Installs what is missing; throws when that fails. */
export function installWorkflowPeers(): void {
  installPeers(['postgres']);
  if (existsSync(join(FOLDER, 'node_modules', '.package-lock.json'))) return;
  console.error('installing the workflow engines (once, about 15 s) …');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`'npm ${args.join(' ')}' in bench/runs/packages failed`);
}
