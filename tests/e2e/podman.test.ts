/** The containers of an agent on Podman, through its socket that is compatible with Docker's. */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { packBusybox } from '../support/container-image.ts';
import { podmanTest as test } from '../support/engine-tests.ts';
import { PodmanEngine } from '../support/podman-engine.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const WAIT_MS = 60_000;
const IMAGE = 'localhost/busybox:test';

let folder: string;
let engine: PodmanEngine;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-podman-'));
  await chmod(folder, 0o711);
  engine = await PodmanEngine.start(join(folder, 'engine'));
  await engine.run('import', await packBusybox(folder), IMAGE);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
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
  await engine?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function shell(script: string, more: object = {}) {
  const exec = { image: IMAGE, args: ['sh', '-c', script], pull: 'never' };
  const body = { exec, retry: { maxAttempts: 1 }, ...more };
  return (await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body)).body;
}

test('a container on Podman prints, leaves its result and exits with its code', async () => {
  const done = await shell('echo out; echo err >&2; echo "{\\"n\\": 5}" > "$SLUICE_RESULT"');
  const failed = await shell('exit 3');

  expect(done).toMatchObject({ state: 'succeeded', output: { n: 5 } });
  const { body } = await api.get(`/v1/tasks/${done.id}/logs`);
  const lines = body.items.map(({ line }: { line: string }) => line);
  expect(lines.sort()).toEqual(['err', 'out']);
  expect(failed).toMatchObject({ state: 'failed', error: { code: 'exit_3' } });
});

test('memory beyond the limit ends a container on Podman', async () => {
  const task = await shell('tail /dev/zero', { resources: { memoryMb: 32 } });

  expect(task).toMatchObject({ state: 'failed', error: { code: 'out_of_memory' } });
});

test('a cancelled container on Podman is gone', async () => {
  const exec = { image: IMAGE, args: ['sleep', '60'], pull: 'never', killGraceMs: 100 };
  const { body: task } = await api.post('/v1/tasks', { exec });
  const isRunning = async () => (await engine.run('ps', '--quiet')) !== '';
  await waitUntil(isRunning, { what: 'the container runs', timeoutMs: WAIT_MS });

  await api.post(`/v1/tasks/${task.id}/cancel`, {});

  const { body } = await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(body.state).toBe('cancelled');
});

test('containers on Podman leave no container and no folder behind', async () => {
  const folders = async () => {
    return (await readdir(join(folder, 'work'))).filter((name) => name.startsWith('t_'));
  };
  const isClean = async () => {
    return (await engine.run('ps', '--all', '--quiet')) === '' && (await folders()).length === 0;
  };
  await waitUntil(isClean, { what: 'nothing is left', timeoutMs: WAIT_MS });
});
