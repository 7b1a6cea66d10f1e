/** `sluice dev` on a machine with a container engine. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packBusybox } from '../support/container-image.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { engineTest as test } from '../support/engine-tests.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

test('sluice dev runs containers and commands when an engine answers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-dev-containers-'));
  await chmod(folder, 0o711);
  const engine = await DockerEngine.start(join(folder, 'engine'));
  await engine.run('import', await packBusybox(folder), 'busybox:dev');
  const env = { DOCKER_HOST: `unix://${engine.socket}` };
  const args = ['dev', '--port', '0', '--data', join(folder, 'data')];
  const server = await ServerProcess.start({ command: LAUNCHER, args, env });
  const api = new ApiClient(server.url, 'http1');
  const run = async (exec: object) => {
    return (await api.post('/v1/tasks?waitMs=60000', { exec, retry: { maxAttempts: 1 } })).body;
  };

  const image = { image: 'busybox:dev', network: 'none', pull: 'never' };
  const container = await run({ ...image, args: ['echo', '{"in": "a container"}'] });
  const command = await run({ command: ['echo', '{"in": "a command"}'] });

  expect(container).toMatchObject({ state: 'succeeded', output: { in: 'a container' } });
  expect(command).toMatchObject({ state: 'succeeded', output: { in: 'a command' } });
  api.close();
  server.signal('SIGTERM');
  await server.exited();
  expect(await engine.run('ps', '--all', '--quiet')).toBe('');
  await engine.stop();
  await rm(folder, { recursive: true });
});
