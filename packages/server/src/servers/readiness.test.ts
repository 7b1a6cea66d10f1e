import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { ServerLog } from '../observation/server-log.ts';
import { Server } from './server.ts';

test('a server whose search has ended is not ready, says so, and takes tasks', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-ready-'));
  const lines: string[] = [];
  const log = new ServerLog({ level: 'error', write: (line) => lines.push(line) });
  const address = { host: '127.0.0.1', port: 0 };
  const onFatal = (cause: Error) => expect.fail(cause.message);
  const server = await Server.start({ ...address, dataFolder, version: '0', onFatal, log });
  try {
    const status = async (path: string) => (await fetch(server.url + path)).status;
    expect(await status('/health/ready')).toBe(200);

    const { host } = server as unknown as {
      host: { parts: { projection: { worker: Worker } } };
    };
    await host.parts.projection.worker.terminate();

    await vi.waitUntil(async () => (await status('/health/ready')) === 503);
    const answer = (await (await fetch(`${server.url}/health/ready`)).json()) as { error: object };
    expect(answer.error).toMatchObject({
      code: 'unavailable',
      message: 'search and history have stopped (its thread ended); restart the server',
    });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^sluice_projection_ok 0$/m);
    expect(metrics).toMatch(/^sluice_projection_ended 1$/m);
    expect(lines.join('\n')).toContain('search has stopped');
    const task = { method: 'POST', body: '{"type":"hello"}' };
    expect((await fetch(`${server.url}/v1/tasks`, task)).status).toBe(201);
    expect(await status('/health/live')).toBe(200);
  } finally {
    await server.close();
    await rm(dataFolder, { recursive: true });
  }
});
