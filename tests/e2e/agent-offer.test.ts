/** What an agent offers of its host, and what it says when that changes. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const WAIT_MS = 60_000;

const execute = promisify(execFile);

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-offer-'));
  // The user of the commands passes through it.
  await chmod(folder, 0o711);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function shell(script: string, more: object) {
  const body = { exec: { command: ['sh', '-c', script] }, retry: { maxAttempts: 1 }, ...more };
  return (await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body)).body;
}

async function linesOf({ id }: { id: string }): Promise<string[]> {
  const { body } = await api.get(`/v1/tasks/${id}/logs`);
  return body.items.map(({ line }: { line: string }) => line);
}

test('GPUs are given to one command at a time, by index', async () => {
  const other = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'gpu-work'),
    labels: { gpus: 'two' },
    gpus: ['3', '5'],
    handleSignals: false,
    onNotice: () => undefined,
  });
  await mkdir(join(folder, 'locks'));
  await chmod(join(folder, 'locks'), 0o777);
  const lock = `${join(folder, 'locks')}/$NVIDIA_VISIBLE_DEVICES`;
  const script = `echo "gpu $NVIDIA_VISIBLE_DEVICES"; mkdir "${lock}" && sleep 0.2 && rmdir "${lock}"`;
  const one = { constraints: ['gpus == two'], resources: { gpu: 1 } };

  const tasks = await Promise.all([1, 2, 3].map(() => shell(script, one)));
  const both = await shell(script, { ...one, resources: { gpu: 2 } });
  const none = await shell(script, { constraints: ['gpus == two'] });

  expect(tasks.map(({ state }) => state)).toEqual(Array(3).fill('succeeded'));
  const seen = (await Promise.all(tasks.map(linesOf))).flat();
  expect(new Set(seen)).toEqual(new Set(['gpu 3', 'gpu 5']));
  expect(await linesOf(both)).toEqual(['gpu 3,5']);
  expect(await linesOf(none)).toEqual(['gpu void']);
  await other.stop(0);
});

test('an agent with control groups says what its commands use', async () => {
  const other = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'measured'),
    name: 'measured',
    labels: { measured: 'yes' },
    handleSignals: false,
    onNotice: () => undefined,
  });
  try {
    expect(other.groups.kind).toMatch(/^cgroup/);
    const exec = { command: ['sh', '-c', 'while :; do :; done'] };
    const { body } = await api.post('/v1/tasks', { exec, constraints: ['measured == yes'] });
    const used = async () => {
      const { items } = (await api.get('/v1/workers')).body;
      return items.find(({ name }: { name: string }) => name === 'measured')?.measured ?? {};
    };

    await waitUntil(async () => (await used()).cpu > 0.1, {
      what: 'it is busy',
      timeoutMs: WAIT_MS,
    });
    expect(await used()).toMatchObject({ slots: 1, memoryMb: expect.any(Number) });
    await api.post(`/v1/tasks/${body.id}/cancel`);

    await waitUntil(async () => (await used()).slots === 0, {
      what: 'it rests',
      timeoutMs: WAIT_MS,
    });
  } finally {
    await other.stop(0);
  }
});

test('a disk that fills takes everything out of the offer, until it has room', async () => {
  const disk = join(folder, 'small-disk');
  await mkdir(disk);
  await execute('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=711', 'tmpfs', disk]);
  const other = await Agent.start({
    url: server.url,
    workFolder: join(disk, 'work'),
    labels: { disk: 'small' },
    reserve: { diskMb: 40 },
    handleSignals: false,
    onNotice: () => undefined,
  });
  try {
    await writeFile(join(disk, 'filler'), Buffer.alloc(50 * 2 ** 20));
    const typesOf = async () => JSON.stringify((await api.get('/v1/workers')).body.items);
    await waitUntil(async () => (await typesOf()).includes('scratch folders is full'), {
      what: 'the agent says so',
      timeoutMs: WAIT_MS,
    });
    const exec = { command: ['true'] };
    const { body } = await api.post('/v1/tasks', { exec, constraints: ['disk == small'] });
    const { body: why } = await api.get(`/v1/tasks/${body.id}/explain`);
    expect(JSON.stringify(why.reasons)).toContain('scratch folders is full');

    await rm(join(disk, 'filler'));

    const { body: ended } = await api.get(`/v1/tasks/${body.id}/wait?timeoutMs=${WAIT_MS}`);
    expect(ended.state).toBe('succeeded');
  } finally {
    await other.stop(0);
    await execute('umount', ['--lazy', disk]);
  }
});

test('an agent whose engine is not there starts, and says why it runs no containers', async () => {
  const other = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'no-engine'),
    containers: { socket: join(folder, 'no.sock') },
    handleSignals: false,
    onNotice: () => undefined,
  });
  const { body } = await api.post('/v1/tasks', { exec: { image: 'a' } });

  const { body: why } = await api.get(`/v1/tasks/${body.id}/explain`);

  expect(JSON.stringify(why.reasons)).toContain('no.sock does not answer');
  expect(await shell('echo still', {})).toMatchObject({ state: 'succeeded' });
  await other.stop(0);
});
