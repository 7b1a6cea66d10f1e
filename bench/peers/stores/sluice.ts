import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Store } from './store.ts';
import { isOpen, StoreProcess } from './store-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../../packages/cli/bin/sluice');

/** A server as users start it: every commit is on disk before its answer. */
export async function startSluice(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const port = await freePort();
  const server = new StoreProcess({
    command: LAUNCHER,
    args: ['dev', '--port', String(port), '--data', folder],
    isReady: () => isOpen(port),
  });
  await server.start();
  return {
    address: `http://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    killAndStart: async () => {
      await server.end('SIGKILL');
      await server.start();
    },
    stop: async () => {
      await server.end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
