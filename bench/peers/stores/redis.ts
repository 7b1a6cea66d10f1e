import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sluice/postgres/testing/free-port';
import type { Store } from './store.ts';
import { openStore } from './store-process.ts';

/** Redis with its append-only file, without snapshots. */
export async function startRedis(appendfsync: 'everysec' | 'always'): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-redis-'));
  const port = await freePort();
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync,
    // BullMQ requires it.
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const program = { command: 'redis-server', args, isReady: () => answersPing(port) };
  return openStore(program, { address: `redis://127.0.0.1:${port}`, folder });
}

/** While Redis loads its file it answers, but not with PONG. */
function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG'));
    });
    socket.once('error', () => resolve(false));
  });
}
