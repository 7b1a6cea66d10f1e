import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-forgotten-'));
  await start();
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startServer(folder, '--limits-finished-tasks-max', '0');
  api = new ApiClient(server.url, 'http1');
}

const DEFINITION = {
  tasks: [{ taskReferenceName: 'set', type: 'SET_VARIABLE', inputParameters: { n: 2 } }],
  variables: { n: 1 },
  outputParameters: { given: '${workflow.input.n}', n: '${workflow.variables.n}' },
};

async function ended(id: string) {
  return (await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`)).body;
}

/** Starts a run, and waits until it has ended and left memory. */
async function forgotten(request: object): Promise<string> {
  const { status, body } = await api.post('/v1/runs', { workflow: 'w', ...request });
  expect(status, JSON.stringify(body)).toBe(201);
  await ended(body.id);
  await vi.waitFor(
    async () => {
      const { body: refused } = await api.post(`/v1/runs/${body.id}/retry`, {});
      expect(refused.error.code).toBe('run_not_kept');
    },
    { timeout: 20_000, interval: 50 },
  );
  return body.id;
}

test('a run that left memory is restarted from its records, and again after a kill', async () => {
  expect((await api.put('/v1/workflows/w/versions/1', DEFINITION)).status).toBeLessThan(300);
  const id = await forgotten({ input: { n: 7 }, correlationId: 'order-1', tags: { to: 'eu' } });

  const { status, body } = await api.post(`/v1/runs/${id}/restart`, {});
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ id, correlationId: 'order-1', tags: { to: 'eu' } });
  const done = { id, status: 'succeeded', input: { n: 7 }, output: { given: 7, n: 2 } };
  expect(await ended(id)).toMatchObject(done);

  api.close();
  await server.kill();
  await start();
  expect(await ended(id)).toMatchObject(done);
  const { body: history } = await api.get(`/v1/runs/${id}/history`);
  const changes = history.items.filter(({ step }: { step: unknown }) => step === null);
  expect(changes.map(({ state }: { state: string }) => state)).toEqual([
    'running',
    'succeeded',
    'running',
    'succeeded',
  ]);
  const { body: audit } = await api.get('/v1/audit');
  expect(audit.items[0]).toMatchObject({ action: 'run_restarted' });
});

test('a run whose definition is gone cannot be restarted, and says what to do', async () => {
  const id = await forgotten({ definition: DEFINITION, input: { n: 1 } });

  const { status, body } = await api.post(`/v1/runs/${id}/restart`, {});

  expect([status, body.error.code]).toEqual([409, 'run_not_kept']);
  expect(body.error.message).toContain('start another run');
  const { body: unknown } = await api.post('/v1/runs/r_00000000000000000000/restart', {});
  expect(unknown.error.code).toBe('run_not_found');
});
