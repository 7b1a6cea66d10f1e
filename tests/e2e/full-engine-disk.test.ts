/** Containers on a Docker engine whose disk is really full. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { SmallDisk } from '../../packages/log/src/testing/tmpfs-fixture.ts';
import { packBusybox } from '../support/container-image.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { engineTest as test } from '../support/engine-tests.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const WAIT_MS = 60_000;
const IMAGE = 'busybox:test';
const DISK_BYTES = 96 * 2 ** 20;

let folder: string;
let disk: SmallDisk;
let engine: DockerEngine;
let registry: ImageRegistry;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-full-engine-'));
  disk = await SmallDisk.mount(DISK_BYTES);
  engine = await DockerEngine.start(join(disk.path, 'engine'));
  const archive = await packBusybox(folder);
  await engine.run('import', archive, IMAGE);
  registry = await ImageRegistry.start(archive);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
    // On another disk, which is not full, so the agent goes on taking tasks.
    workFolder: join(folder, 'work'),
    commands: false,
    containers: { socket: engine.socket, network: 'none' },
    handleSignals: false,
    onNotice: () => undefined,
  });
});

afterAll(async () => {
  await agent?.stop(0);
  api?.close();
  await server?.kill();
  await registry?.stop();
  await engine?.stop();
  await disk?.unmount();
  await rm(folder, { recursive: true });
});

/** Each attempt that fails is followed by another one at once, if there may be one. */
const often = (maxAttempts: number) => ({ maxAttempts, delayMs: 20, backoff: 'fixed' });

async function run(exec: object) {
  const body = { exec: { image: IMAGE, ...exec }, retry: often(2) };
  return (await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body)).body;
}

test('a container and a pull fail with the full disk, and are tried again', async () => {
  await disk.fill();

  const started = await run({ args: ['true'] });
  const pulled = await run({ image: `${registry.address}/open:1`, args: ['true'] });

  for (const task of [started, pulled]) {
    expect(task).toMatchObject({
      state: 'failed',
      attempt: 2,
      error: { code: 'engine_disk_full' },
    });
    expect(task.error.message).toContain('no space left on device');
  }
  await disk.free();
});

test('a task that met a full disk succeeds when there is room again', async () => {
  await disk.fill();
  const exec = { image: `${registry.address}/later:1`, args: ['true'] };
  const { body: task } = await api.post('/v1/tasks', { exec, retry: often(1000) });
  const tried = async () => (await api.get(`/v1/tasks/${task.id}`)).body.attempt > 1;
  await waitUntil(tried, { what: 'it is tried again', timeoutMs: WAIT_MS });

  await disk.free();

  const { body: ended } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'succeeded' });
});

test('a container that fills the disk says so, and its room is free again', async () => {
  const filled = await run({ args: ['dd', 'if=/dev/zero', 'of=/big', 'bs=1M', 'count=200'] });
  await waitUntil(async () => (await engine.run('ps', '--all', '--quiet')) === '', {
    what: 'it is removed',
    timeoutMs: WAIT_MS,
  });
  const next = await run({ args: ['dd', 'if=/dev/zero', 'of=/small', 'bs=1M', 'count=20'] });

  expect(filled).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'exit_1' } });
  expect(filled.error.message).toMatch(/no space left on device/i);
  expect(next).toMatchObject({ state: 'succeeded', attempt: 1 });
});
