/**
 * One suite for workers in three languages, because the protocol needs no SDK.
 *
 * Each worker is a separate process, started as a user would. It prints `runs ID` and `ended ID`,
 * so runs are counted in the worker itself.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, sha256Of } from './blob-client.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/workers');
const WAIT_MS = 60_000;
/** Longer than a test takes: such a task ends only by a cancel. */
const LONG_MS = 600_000;
/** With this grace period, only a worker that received the cancel ends the task in time. */
const PATIENCE = { graceMs: LONG_MS };

const WORKERS = [
  { file: 'worker.ts', command: process.execPath, exit: 'SIGTERM' },
  { file: 'worker.py', command: 'python3', exit: 0 },
  { file: 'worker.sh', command: 'bash', exit: 0 },
] as const;

describe.each(WORKERS)('$file', ({ file, command, exit }) => {
  let folder: string;
  let server: ServerProcess;
  let worker: ServerProcess;
  let api: ApiClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
    server = await ServerProcess.startDev(join(folder, 'data'));
    // Files that a killed worker leaves behind are removed with the folder.
    const env = { SLUICE_URL: server.url, WORKER_NAME: file, TMPDIR: folder };
    api = new ApiClient(server.url, 'http1');
    worker = await ServerProcess.start({ command, args: [join(EXAMPLES, file)], env });
  });

  afterEach(async () => {
    api.close();
    // The end of the stream also ends the processes that a killed shell leaves behind.
    await server.kill();
    await worker.kill();
    await rm(folder, { recursive: true });
  });

  async function submit(type: string, input: unknown, more: object = {}): Promise<string> {
    const { status, body } = await api.post('/v1/tasks', { type, input, ...more });
    expect(status).toBe(201);
    return body.id;
  }

  async function ended(id: string): Promise<unknown> {
    return (await api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`)).body;
  }

  /** Submits a task that sleeps, and resolves when its handler has reported progress. */
  async function underWay(ms: number): Promise<string> {
    const id = await submit('sleep', { ms });
    const isUnderWay = async (): Promise<boolean> => {
      const { state, progress } = (await api.get(`/v1/tasks/${id}`)).body;
      return state === 'running' && progress?.fraction > 0;
    };
    await waitUntil(isUnderWay, { what: 'the handler tells of progress', timeoutMs: WAIT_MS });
    return id;
  }

  /** Restarts the server on the same port. */
  async function startAgain(): Promise<void> {
    api.close();
    const { port } = new URL(server.url);
    server = await ServerProcess.startDev(join(folder, 'data'), undefined, port);
    api = new ApiClient(server.url, 'http1');
  }

  function runsOf(id: string): number {
    return worker.lastOutput.split(`${file} runs ${id}\n`).length - 1;
  }

  async function workerNames(): Promise<string[]> {
    const { items } = (await api.get('/v1/workers')).body;
    return items.map(({ name }: { name: string }) => name);
  }

  test('what goes in comes out, whatever it is', async () => {
    const inputs = [
      { text: 'Ädä € 🎉 \u2028', 'a "key"': ['\\', '\n\t', ']}', { lease: 'l_0' }], n: -1.5e300 },
      [[], {}, '', null, true, 12345678901234567n.toString()],
      'plain',
      null,
    ];

    const ids = await Promise.all(inputs.map((input) => submit('echo', input)));

    for (const [index, id] of ids.entries()) {
      const expected = { state: 'succeeded', attempt: 1, output: inputs[index] };
      expect(await ended(id)).toMatchObject(expected);
    }
  });

  test('an input that is too large for the stream is fetched', async () => {
    const content = JSON.stringify({ ms: 1, filler: 'x'.repeat(300_000) });
    expect((await new BlobClient(server.url).put(content)).status).toBe(200);

    const task = { type: 'sleep', inputBlob: sha256Of(content) };
    const { id } = (await api.post('/v1/tasks', task)).body;

    expect(await ended(id)).toMatchObject({ state: 'succeeded', attempt: 1, output: 1 });
  });

  test('a failure is tried again, and its message is kept', async () => {
    const retry = { maxAttempts: 2, backoff: 'fixed', delayMs: 50, jitter: false };

    const id = await submit('fail', { message: 'no "Größe", sorry' }, { retry });

    expect(await ended(id)).toMatchObject({
      state: 'failed',
      attempt: 2,
      error: { message: 'no "Größe", sorry' },
    });
    expect(runsOf(id)).toBe(2);
  });

  test('a handler hears that its task is cancelled, and the next one runs', async () => {
    const id = await underWay(LONG_MS);

    await api.post(`/v1/tasks/${id}/cancel`, PATIENCE);

    expect(await ended(id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    await worker.printed(new RegExp(`ended ${id}\n`));
    const next = await submit('echo', 'next');
    expect(await ended(next)).toMatchObject({ state: 'succeeded', output: 'next' });
  });

  test('a task that ends while the server is dead ends once, with its value', async () => {
    const id = await underWay(1000);

    await server.kill();
    await worker.printed(new RegExp(`ended ${id}\n`));
    await startAgain();

    expect(await ended(id)).toMatchObject({ state: 'succeeded', output: 1000, attempt: 1 });
    expect(runsOf(id)).toBe(1);
  });

  test('a task that outlives a killed server is still the same run and hears cancel', async () => {
    const id = await underWay(LONG_MS);

    await server.kill();
    await startAgain();
    await worker.printed(/is back\n/);
    const [name] = await workerNames();
    const { body } = await api.post(`/v1/tasks/${id}/cancel`, PATIENCE);

    expect(name).toBe(file);
    expect(body).toMatchObject({ state: 'running', attempt: 1 });
    expect(await ended(id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    expect(runsOf(id)).toBe(1);
  });

  test('SIGTERM lets it finish what it runs, and it leaves without a trace', async () => {
    const id = await underWay(1000);

    worker.signal('SIGTERM');
    expect(await worker.exited()).toBe(exit);

    expect(await ended(id)).toMatchObject({ state: 'succeeded', output: 1000, attempt: 1 });
    expect(await workerNames()).toEqual([]);
    const late = await submit('echo', 'late');
    expect((await api.get(`/v1/tasks/${late}`)).body).toMatchObject({ state: 'queued' });
  });
});
