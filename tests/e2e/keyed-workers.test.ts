import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/workers');

const WORKERS = [
  { file: 'worker.ts', command: process.execPath },
  { file: 'worker.py', command: 'python3' },
  { file: 'worker.sh', command: 'bash' },
] as const;

let folder: string;
let server: ServerProcess;
let admin: KeyedApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(join(folder, 'data'));
  const nobody = new KeyedApi(server.url);
  admin = nobody.as(await nobody.keyFor('admin', 'default'));
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

test.each(WORKERS)('$file works in the namespace of its key', async ({ file, command }) => {
  const namespace = file.replace('.', '-');
  const key = await admin.keyFor('worker', namespace);
  const submitter = admin.as(await admin.keyFor('submitter', namespace));
  const env = { SLUICE_URL: server.url, SLUICE_API_KEY: key, TMPDIR: folder };
  const worker = await ServerProcess.start({ command, args: [join(EXAMPLES, file)], env });

  const foreign = (await admin.post('/v1/tasks', { type: 'echo', input: 1 })).body;
  const own = (await submitter.post('/v1/tasks', { type: 'echo', input: { a: 'ü' } })).body;
  const ended = await submitter.get(`/v1/tasks/${own.id}/wait?timeoutMs=60000`);
  const waiting = await admin.get(`/v1/tasks/${foreign.id}`);

  await worker.kill();
  expect(ended.body).toMatchObject({ state: 'succeeded', output: { a: 'ü' } });
  expect(waiting.body).toMatchObject({ state: 'queued' });
  expect(worker.lastOutput).not.toContain(key);
});

/** Sends a request whose body ends only when `finish` is called. */
function slowPost(path: string, key: string, body: string) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-length': Buffer.byteLength(body),
    expect: '100-continue',
  };
  const asked = request(server.url + path, { method: 'POST', headers });
  // The server has read the head once it asks for the body.
  const isHeard = new Promise((resolve) => asked.once('continue', resolve));
  const answer = new Promise<number>((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  asked.flushHeaders();
  return { isHeard, answer, finish: () => asked.end(body) };
}

test('a key that is revoked while its request arrives makes no other', async () => {
  const key = await admin.keyFor('admin', 'shop');
  const { items } = (await admin.get('/v1/keys')).body;
  const { id } = items.at(-1);
  const slow = slowPost('/v1/keys', key, '{"role":"admin"}');
  await slow.isHeard;

  const revoked = await admin.call({ method: 'DELETE', path: `/v1/keys/${id}` });
  slow.finish();

  expect(revoked.status).toBe(204);
  expect(await slow.answer).toBe(401);
});

test('the waits of a key that is revoked end at once, and get no answer of theirs', async () => {
  const key = await admin.keyFor('submitter', 'shop');
  const { items } = (await admin.get('/v1/keys')).body;
  const { id } = items.at(-1);
  const submitter = admin.as(key);
  const task = (await submitter.post('/v1/tasks', { type: 'never-run' })).body;
  const waits = [
    submitter.get(`/v1/tasks/${task.id}/wait?timeoutMs=60000`),
    submitter.post('/v1/tasks/wait', { ids: [task.id], timeoutMs: 60_000 }),
    submitter.post('/v1/tasks?waitMs=60000', { type: 'never-run' }),
  ];
  // All three have arrived once the server has stored the last task.
  const isTaken = async () => (await submitter.get('/v1/tasks?type=never-run')).body.items.length;
  await expect.poll(isTaken).toBe(2);

  await admin.call({ method: 'DELETE', path: `/v1/keys/${id}` });

  expect((await Promise.all(waits)).map(({ status }) => status)).toEqual([401, 401, 401]);
});

test('figures of the whole server are for its admins', async () => {
  const viewers = await Promise.all([
    admin.keyFor('viewer', 'default'),
    admin.keyFor('admin', 'shop'),
    admin.keyFor('viewer', 'shop'),
  ]);

  for (const key of viewers) {
    const { body } = await admin.as(key).get('/v1/cluster');
    const shown = ['version', 'startedAt', 'partitions', 'projection', 'quotas'];
    expect(Object.keys(body)).toEqual(shown);
    expect(body.partitions).toEqual([{ partition: 0, state: 'ok' }]);
    expect(Object.keys(body.projection)).toEqual(['state', 'lagMs']);
  }
  expect((await admin.get('/v1/cluster')).body).toMatchObject({ blobs: { count: 0 } });
});
