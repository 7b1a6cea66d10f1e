import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sluice/postgres/testing/free-port';
import type { Store } from './store.ts';
import { isOpen, openStore } from './store-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../../packages/cli/bin/sluice');

/** A server as users start it: every commit is on disk before its answer. */
export async function startSluice(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const port = await freePort();
  const args = ['dev', '--no-agent', '--port', String(port), '--data', folder];
  const program = { command: LAUNCHER, args, isReady: () => isOpen(port) };
  return openStore(program, { address: `http://127.0.0.1:${port}`, folder });
}
