import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, largeJson, sha256Of } from './blob-client.ts';

const CLOCK = pathToFileURL(join(import.meta.dirname, '../support/moved-clock.ts')).href;
const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const HOUR_MS = 3_600_000;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let blobs: BlobClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

/**
 * Starts the server with its clock `aheadHours` ahead. At most one finished task stays in memory.
 */
async function start(aheadHours: number): Promise<void> {
  server = await ServerProcess.start({
    command: LAUNCHER,
    args: ['server', '--port', '0', '--data', folder, '--limits-finished-tasks-max', '1'],
    env: {
      NODE_OPTIONS: `--import ${CLOCK}`,
      SLUICE_TEST_CLOCK_AHEAD_MS: String(aheadHours * HOUR_MS),
    },
  });
  api = new ApiClient(server.url, 'http1');
  blobs = new BlobClient(server.url);
}

async function stop(): Promise<void> {
  api.close();
  server.signal('SIGTERM');
  await server.exited();
}

async function uploaded(): Promise<string> {
  const content = largeJson(1000);
  expect((await blobs.put(content)).status).toBe(200);
  return sha256Of(content);
}

/** Waits until the sweep has left this many blobs. */
async function left(count: number): Promise<void> {
  const isSo = async () => (await api.get('/v1/cluster')).body.blobs.count === count;
  await waitUntil(isSo, { what: `${count} blobs are left`, timeoutMs: 60_000 });
}

async function finished(blob: string): Promise<string> {
  const { id } = (await api.post('/v1/tasks', { type: 'a' })).body;
  const { status } = await api.post(`/v1/tasks/${id}/complete`, { outputBlob: blob });
  expect(status).toBe(200);
  return id;
}

/**
 * Waits until the task is in no file any more. Rows of an old day are removed when other tasks end.
 */
async function gone(id: string, blob: string): Promise<void> {
  const isGone = async () => {
    await finished(blob);
    return (await api.get(`/v1/tasks/${id}`)).status === 404;
  };
  await waitUntil(isGone, { what: `${id} is gone`, timeoutMs: 60_000 });
}

/** Waits until earlier tasks are only in files, because later ones took their place in memory. */
async function haveLeftMemory(blob: string): Promise<void> {
  for (let n = 0; n < 3; n++) await finished(blob);
  const isSo = async () => {
    await finished(blob);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^sluice_tasks_finished (\d+)$/m.exec(metrics)?.[1]) <= 3;
  };
  await waitUntil(isSo, { what: 'finished tasks have left memory', timeoutMs: 60_000 });
}

test('blobs go a day after the last task that named them, and no sooner', async () => {
  await start(0);
  const [unnamed, waiting, ended] = [await uploaded(), await uploaded(), await uploaded()];
  await api.post('/v1/tasks', { type: 'a', inputBlob: waiting });
  const id = await finished(ended);
  await haveLeftMemory(waiting);
  const there = async () => {
    const answers = [unnamed, waiting, ended].map(async (each) => (await blobs.get(each)).status);
    return Promise.all(answers);
  };

  await stop();
  await start(23);
  await left(3);
  expect(await there()).toEqual([200, 200, 200]);

  // The upload of the unnamed blob is a day old. The others are named, one by a task and one by a
  // row.
  await stop();
  await start(25);
  await left(2);
  expect(await there()).toEqual([404, 200, 200]);
  expect((await api.get(`/v1/tasks/${id}`)).body.outputBlob).toBe(ended);

  // The row is removed with its day. The blob is removed a day later.
  await stop();
  await start(9 * 24);
  await gone(id, waiting);
  await stop();
  await start(11 * 24);
  await left(1);
  expect(await there()).toEqual([404, 200, 404]);
});
