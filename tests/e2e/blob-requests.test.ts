/** Which requests may name blobs and which may not, all on one server. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, largeJson, sha256Of } from './blob-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const LARGE_BYTES = 1024 * 1024;

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function uploaded(): Promise<string> {
  const content = largeJson(LARGE_BYTES);
  expect((await new BlobClient(server.url).put(content)).status).toBe(200);
  return sha256Of(content);
}

describe('what names blobs', () => {
  const MISSING = sha256Of('missing');

  test('is refused by path when one is not there, as a whole', async () => {
    const inputBlob = await uploaded();
    const tasks = [
      { type: 'whole', inputBlob },
      { type: 'whole', inputBlob: MISSING },
    ];

    const { status, body } = await api.post('/v1/tasks', tasks);

    expect([status, body.error.code]).toEqual([404, 'blob_not_found']);
    expect(body.error.details).toMatchObject([{ path: '/1/inputBlob' }]);
    expect((await api.get('/v1/tasks?type=whole')).body.items).toEqual([]);
  });

  test.each([
    ['beside an input', { input: 1, inputBlob: MISSING }, '/inputBlob'],
    ['in upper case', { inputBlob: MISSING.toUpperCase() }, '/inputBlob'],
    ['as a path', { inputBlob: `../${MISSING}` }, '/inputBlob'],
    ['as a number', { inputBlob: 7 }, '/inputBlob'],
    ['beside another mistake', { inputBlob: MISSING, priority: 9 }, '/priority'],
  ])('is refused by name when it is named %s', async (_, task, path) => {
    const { status, body } = await api.post('/v1/tasks', { type: 'a', ...task });

    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details).toMatchObject([{ path }]);
  });

  test('an output that is not there is refused with its report, and nothing is taken', async () => {
    const session = new SessionUnderTest(server.url, 'http1');
    const { sessionId } = await session.welcomed();
    const { id } = (await api.post('/v1/tasks', { type: 'hello' })).body;
    const { lease } = await session.takeTask();

    const missing = [{ lease, kind: 'succeeded', outputBlob: MISSING }];
    const both = [{ lease, kind: 'succeeded', output: 1, outputBlob: MISSING }];
    const first = await api.report(sessionId, missing);
    const second = await api.report(sessionId, both);

    expect([first.status, first.body.error.code]).toEqual([404, 'blob_not_found']);
    expect(first.body.error.details).toMatchObject([{ path: '/reports/0/outputBlob' }]);
    expect([second.status, second.body.error.code]).toEqual([400, 'invalid_request']);
    expect((await api.get(`/v1/tasks/${id}`)).body.state).toBe('leased');
    session.disconnect();
  });

  test('patches an input, which cannot be merged then, and ends a task from outside', async () => {
    const blob = await uploaded();
    const { id } = (await api.post('/v1/tasks', { type: 'a', input: { a: 1 } })).body;

    const patched = await api.patch(`/v1/tasks/${id}`, { inputBlob: blob });
    const merged = await api.patch(`/v1/tasks/${id}`, { input: { b: 1 } });
    const missing = await api.patch(`/v1/tasks/${id}`, { inputBlob: MISSING });
    const nowhere = await api.post(`/v1/tasks/${id}/complete`, { outputBlob: MISSING });
    const completed = await api.post(`/v1/tasks/${id}/complete`, { outputBlob: blob });

    expect(patched.body).toMatchObject({ inputBlob: blob });
    expect([merged.status, merged.body.error.details[0].path]).toEqual([400, '/input']);
    expect([missing.status, nowhere.status]).toEqual([404, 404]);
    expect(completed.body).toMatchObject({ state: 'succeeded', inputBlob: blob, outputBlob: blob });
  });

  test('is what an input that is too large is told of', async () => {
    const { status, body } = await api.post('/v1/tasks', {
      type: 'a',
      input: largeJson(LARGE_BYTES),
    });

    expect([status, body.error.code]).toEqual([413, 'payload_too_large']);
    expect(body.error.message).toContain('name it as inputBlob');
  });
});

test.each([
  '..%2f..%2fstats.json',
  '%2e%2e%2fstats.json',
  `..%2f${sha256Of('x')}`,
  `${sha256Of('x')}%00`,
  `${sha256Of('x').toUpperCase()}`,
  'x',
])('no path but a hash is looked for: %s', async (path) => {
  const got = await fetch(`${server.url}/v1/blobs/${path}`);
  const put = await fetch(`${server.url}/v1/blobs/${path}`, { method: 'PUT', body: 'x' });

  expect([got.status, put.status]).toEqual([400, 400]);
  expect(await readdir(join(folder, 'blobs', '.unfinished'))).toEqual([]);
});
