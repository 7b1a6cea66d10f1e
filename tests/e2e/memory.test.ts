import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const MIB = 2 ** 20;
const MEMORY_MAX = 400 * MIB;
const TASKS = Array(5).fill({ type: 'other', input: 'x'.repeat(200_000) });
/** More than the bound allows, however much memory the server itself needs. */
const SUBMITS_MAX = 500;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let session: SessionUnderTest;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-memory-'));
  server = await ServerProcess.startServer(folder, '--max-memory', String(MEMORY_MAX));
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1');
});

afterEach(async () => {
  session.disconnect();
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

test('above the bound on memory submits are refused, and all else goes on', async () => {
  const { sessionId } = await session.welcomed();
  const { body: held } = await api.post('/v1/tasks', { type: 'hello' });
  const { lease } = await session.takeTask();

  let taken = 0;
  let refused = await api.post('/v1/tasks', TASKS);
  for (; refused.status === 201 && taken < SUBMITS_MAX; taken++) {
    refused = await api.post('/v1/tasks', TASKS);
  }

  expect([refused.status, refused.body.error.code]).toEqual([429, 'overloaded']);
  expect(refused.body.error.message).toContain('memory');
  expect(taken).toBeGreaterThan(0);
  const { body: cluster } = await api.get('/v1/cluster');
  expect(cluster.memory.residentBytes).toBeLessThan(2 * MEMORY_MAX);
  const { body: reported } = await api.report(sessionId, [{ lease, kind: 'succeeded' }]);
  expect(reported.outcomes).toEqual(['ok']);
  expect((await api.get(`/v1/tasks/${held.id}`)).body.state).toBe('succeeded');
});
