import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

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

async function submit(input: unknown): Promise<string> {
  return (await api.post('/v1/tasks', { type: 'patched', input })).body.id;
}

test.each([
  [{ a: 1, b: { c: 2, d: 3 } }, { b: { c: null, e: 4 } }, { a: 1, b: { d: 3, e: 4 } }],
  [null, { a: { b: null } }, { a: {} }],
  [{ a: 1 }, [1, 2], [1, 2]],
  [{ a: 1 }, 'text', 'text'],
  [{ a: 1 }, null, null],
])('the input %j, patched with %j, is %j', async (before, input, after) => {
  const id = await submit(before);

  const { status, body } = await api.patch(`/v1/tasks/${id}`, { input });

  expect([status, body.input]).toEqual([200, after]);
});

test('a task that is named twice in an array is patched twice', async () => {
  const id = await submit({ a: 1 });

  await api.patch('/v1/tasks', [
    { id, input: { b: 2 } },
    { id, input: { c: 3 } },
  ]);

  expect((await api.get(`/v1/tasks/${id}`)).body.input).toEqual({ a: 1, b: 2, c: 3 });
});

test('patches that arrive at once are all in it', async () => {
  const id = await submit({});

  await Promise.all(
    Array.from({ length: 20 }, (_, n) => api.patch(`/v1/tasks/${id}`, { input: { [`n${n}`]: n } })),
  );

  expect(Object.keys((await api.get(`/v1/tasks/${id}`)).body.input)).toHaveLength(20);
});

test('what becomes too large by a patch is refused, and stays as it was', async () => {
  const id = await submit({ a: 'x'.repeat(200_000) });

  const { status, body } = await api.patch(`/v1/tasks/${id}`, {
    input: { b: 'x'.repeat(100_000) },
  });

  expect([status, body.error.details[0].path]).toEqual([413, '/input']);
  expect(Object.keys((await api.get(`/v1/tasks/${id}`)).body.input)).toEqual(['a']);
});
