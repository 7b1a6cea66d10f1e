/** Pulls of images and options of containers, on a real Docker engine. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { packBusybox } from '../support/container-image.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { engineTest as test } from '../support/engine-tests.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const WAIT_MS = 60_000;
const IMAGE = 'busybox:test';
/** Most machines have it, and no container without leave. */
const DEVICE = '/dev/fuse';
const MIB = 2 ** 20;
const execute = promisify(execFile);

let folder: string;
let archive: string;
let engine: DockerEngine;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-pulls-'));
  await chmod(folder, 0o711);
  engine = await DockerEngine.start(join(folder, 'engine'));
  archive = await packBusybox(folder);
  await engine.run('import', archive, IMAGE);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'work'),
    commands: false,
    containers: { socket: engine.socket, network: 'none', devices: [DEVICE] },
    pidsMax: 50,
    handleSignals: false,
    onNotice: () => undefined,
  });
});

afterAll(async () => {
  await agent?.stop(0);
  api?.close();
  await server?.kill();
  await engine?.stop();
  await rm(folder, { recursive: true });
});

/** The image with one more file. */
async function archiveWith(name: string, content: string | Buffer): Promise<string> {
  const changed = join(folder, `${name}.tar`);
  await copyFile(archive, changed);
  await writeFile(join(folder, name), content);
  await execute('tar', ['-C', folder, '-rf', changed, name]);
  return changed;
}

async function linesOf({ id }: { id: string }): Promise<string[]> {
  const { body } = await api.get(`/v1/tasks/${id}/logs`);
  return body.items.map(({ line }: { line: string }) => line);
}

async function run(exec: object) {
  const body = { exec, retry: { maxAttempts: 1 } };
  return (await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body)).body;
}

test('a task shows how far the pull of its image is', async () => {
  // Random, so that it is as large on the way.
  const registry = await ImageRegistry.start(await archiveWith('large', randomBytes(16 * MIB)));
  registry.sendSlowly();
  const image = `${registry.address}/large:1`;
  const { body: task } = await api.post('/v1/tasks', { exec: { image, args: ['ls', '/large'] } });
  const seen = new Map<string, number>();
  const hasEnded = async () => {
    registry.step();
    const { body } = await api.get(`/v1/tasks/${task.id}`);
    if (body.progress !== null) seen.set(body.progress.message, body.progress.fraction);
    return body.state === 'succeeded';
  };

  await waitUntil(hasEnded, { what: 'the container has run', timeoutMs: 2 * WAIT_MS });

  expect(await linesOf(task)).toEqual(['/large']);
  const pulls = [...seen].filter(([message]) => message.startsWith(`pulls ${image}: `));
  expect(pulls.map(([message]) => message)).toContainEqual(
    expect.stringMatching(/: \d+ of 1[678] MiB$/),
  );
  const inside = pulls.map(([, fraction]) => fraction).filter((each) => each > 0 && each < 1);
  expect(inside.length).toBeGreaterThan(1);
  expect(inside).toEqual(inside.toSorted((a, b) => a - b));
  await registry.stop();
});

test('pull: always has the newest image of a tag, ifNotPresent the one that is here', async () => {
  const registry = await ImageRegistry.start(await archiveWith('version', 'first'));
  const image = `${registry.address}/changing:1`;
  const version = async (pull: string) => {
    return (await linesOf(await run({ image, pull, args: ['cat', '/version'] }))).join();
  };

  expect(await version('ifNotPresent')).toBe('first');
  await registry.publish(await archiveWith('version', 'second'));
  expect(await version('ifNotPresent')).toBe('first');
  expect(await version('always')).toBe('second');
  expect(await version('never')).toBe('second');
  await registry.stop();
});

test('the entrypoint takes the place of the program of the image', async () => {
  const task = await run({ image: IMAGE, entrypoint: ['echo', 'a  b'], args: ['$(id)'] });

  expect(task).toMatchObject({ state: 'succeeded' });
  expect(await linesOf(task)).toEqual(['a  b $(id)']);
});

test('a device is in a container that asks for it, if the agent allows it', async () => {
  const args = ['sh', '-c', `[ -c ${DEVICE} ] && : < ${DEVICE} && echo opened || echo none`];
  const granted = await run({ image: IMAGE, args, devices: [DEVICE] });
  const without = await run({ image: IMAGE, args });
  const refused = await run({ image: IMAGE, args, devices: ['/dev/mem'] });

  expect(await linesOf(granted)).toEqual(['opened']);
  expect((await linesOf(without)).at(-1)).toBe('none');
  expect(refused).toMatchObject({ state: 'failed', error: { code: 'container_not_allowed' } });
});

test('a container starts no more processes than the agent allows', async () => {
  const start = (count: number) => {
    const script = `i=0; while [ $i -lt ${count} ]; do sleep 600 & i=$((i + 1)); done; echo all`;
    return run({ image: IMAGE, args: ['sh', '-c', script] });
  };

  const few = await start(40);
  const many = await start(60);

  expect(await linesOf(few)).toEqual(['all']);
  expect(many).toMatchObject({ state: 'failed', error: { code: 'exit_2' } });
  expect((await linesOf(many)).join()).toContain('fork');
});
