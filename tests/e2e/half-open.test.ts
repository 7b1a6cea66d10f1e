/**
 * A connection whose other end vanished looks silent. Each worker detects the silence, returns on
 * another connection, and has lost nothing.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { Relay } from './relay.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/workers');
const WAIT_MS = 60_000;
const LONG_MS = 600_000;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterAll(() => rm(folder, { recursive: true }));

// They run concurrently, because detecting silence takes a while.
test.concurrent.each([
  ['worker.ts', process.execPath],
  ['worker.py', 'python3'],
  ['worker.sh', 'bash'],
])('%s finds out, and has lost nothing', async (file, command) => {
  const server = await ServerProcess.startDev(join(folder, file));
  const relay = await Relay.start(() => server.url);
  const env = { SLUICE_URL: relay.url, WORKER_NAME: file, TMPDIR: folder };
  const api = new ApiClient(server.url, 'http1');
  const worker = await ServerProcess.start({ command, args: [join(EXAMPLES, file)], env });
  try {
    const submitted = await api.post('/v1/tasks', { type: 'sleep', input: { ms: LONG_MS } });
    const path = `/v1/tasks/${submitted.body.id}`;
    const fraction = async (): Promise<number> => (await api.get(path)).body.progress?.fraction;
    await waitUntil(async () => (await fraction()) > 0, {
      what: 'the handler tells of progress',
      timeoutMs: WAIT_MS,
    });

    relay.freeze();
    const frozenAt = await fraction();
    await worker.printed(/is back\n/);
    await waitUntil(async () => (await fraction()) > frozenAt, {
      what: 'the handler tells of progress again',
      timeoutMs: WAIT_MS,
    });
    // The worker can learn about this only through the new stream.
    await api.post(`${path}/cancel`, { graceMs: LONG_MS });
    const { body } = await api.get(`${path}/wait?timeoutMs=${WAIT_MS}`);

    expect(body).toMatchObject({ state: 'cancelled', attempt: 1 });
    expect(worker.lastOutput.split(' runs ')).toHaveLength(2);
  } finally {
    api.close();
    relay.stop();
    await server.kill();
    await worker.kill();
  }
});
