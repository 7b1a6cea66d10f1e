import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-run-quotas-'));
  server = await ServerProcess.startServer(folder, '--quotas-runs-max', '1');
  api = new ApiClient(server.url, 'http1');
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

const ASK = {
  workflow: 'w',
  definition: { tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }] },
};

test('a start over the quota is refused by its name, and a key ends a step once', async () => {
  const { body: run } = await api.post('/v1/runs', ASK);

  const refused = await api.post('/v1/runs', ASK);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(refused.body.error.message).toContain('quotas.runsMax (1)');
  const { body: cluster } = await api.get('/v1/cluster');
  expect(cluster.quotas.runsMax).toEqual({ used: 1, max: 1 });

  const path = `/v1/runs/${run.id}/steps/ask/complete`;
  expect((await api.post(path, { output: 1, key: 'a b' })).status).toBe(400);
  expect((await api.post(path, { output: 1, key: 'once' })).status).toBe(200);
  expect(await api.post(path, { output: 2, key: 'once' })).toMatchObject({
    status: 200,
    body: { status: 'succeeded', output: 1 },
  });
  expect((await api.post(path, { output: 2, key: 'twice' })).status).toBe(409);
  expect((await api.post('/v1/runs', ASK)).status).toBe(201);
});
