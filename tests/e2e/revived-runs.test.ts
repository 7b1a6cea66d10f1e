import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, PermanentFailure, Sluice, type Worker } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let worker: Worker;
let isBroken: boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-revived-'));
  isBroken = true;
  await start();
});

afterEach(async () => {
  await worker.stop();
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');
  const half = defineTask({
    type: 'half',
    run: ({ n }: { n: number }) => {
      if (isBroken && n === 7) throw new PermanentFailure('seven is odd');
      return { n: n / 2 };
    },
  });
  worker = await new Sluice({ url: server.url }).work([half], { slots: 8 });
}

const WAIT = { timeout: 20_000 };

const DEFINITION = {
  tasks: [
    { name: 'half', taskReferenceName: 'first', inputParameters: { n: '${workflow.input.n}' } },
    {
      taskReferenceName: 'each',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'half', forkTaskInputs: [{ n: 4 }, { n: 7 }, { n: 10 }] },
    },
    { taskReferenceName: 'all', type: 'JOIN' },
  ],
  outputParameters: { first: '${first.output.n}', all: '${all.output[*].n}' },
};

async function run(): Promise<string> {
  const request = { workflow: 'w', definition: DEFINITION, input: { n: 8 } };
  const { status, body } = await api.post('/v1/runs', request);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

async function ended(id: string) {
  return (await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`)).body;
}

test('a failed run is retried after a restart, and its history shows both tries', async () => {
  const id = await run();
  expect(await ended(id)).toMatchObject({ status: 'failed' });
  await worker.stop();
  api.close();
  await server.kill();
  await start();
  isBroken = false;

  const { status, body } = await api.post(`/v1/runs/${id}/retry`, {});
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ status: 'running', endedAt: null, error: null });
  const done = await ended(id);
  expect(done).toMatchObject({ status: 'succeeded', output: { first: 4, all: [2, 3.5, 5] } });
  // Histories and lists come a little later, more so from a server that is not the owner.
  await vi.waitFor(async () => {
    const { body: history } = await api.get(`/v1/runs/${id}/history`);
    const changes = history.items.filter(({ step }: { step: unknown }) => step === null);
    expect(changes.map(({ state }: { state: string }) => state)).toEqual([
      'running',
      'stopping',
      'failed',
      'running',
      'succeeded',
    ]);
    const { body: list } = await api.get('/v1/runs?status=succeeded');
    expect(list.items.map((each: { id: string }) => each.id)).toEqual([id]);
  }, WAIT);
  expect((await api.get('/v1/runs?status=failed')).body.items).toEqual([]);
});

test('a rerun changes the input of a step, and a restart does everything again', async () => {
  isBroken = false;
  const id = await run();
  expect(await ended(id)).toMatchObject({ output: { first: 4 } });

  const rerun = { fromStep: 'first', input: { n: 100 } };
  expect((await api.post(`/v1/runs/${id}/rerun`, rerun)).status).toBe(200);
  expect(await ended(id)).toMatchObject({ output: { first: 50, all: [2, 3.5, 5] } });
  expect((await api.post(`/v1/runs/${id}/restart`, {})).status).toBe(200);
  expect(await ended(id)).toMatchObject({ status: 'succeeded', output: { first: 4 } });

  await worker.stop();
  api.close();
  await server.kill();
  await start();
  expect(await ended(id)).toMatchObject({ status: 'succeeded', output: { first: 4 } });
  expect((await api.get(`/v1/runs/${id}`)).body.counts).toEqual({ succeeded: 6 });
});

test('a branch that failed is skipped, and the audit trail says so', async () => {
  const id = await run();
  expect(await ended(id)).toMatchObject({ status: 'failed' });
  expect((await api.post(`/v1/runs/${id}/steps/_half_1/skip`, {})).status).toBe(200);

  expect(await ended(id)).toMatchObject({ status: 'succeeded', output: { all: [2, 5] } });
  const { body: audit } = await api.get('/v1/audit');
  expect(audit.items[0]).toMatchObject({ action: 'step_skipped' });
});

test('what cannot go on says why', async () => {
  isBroken = false;
  const tasks = [{ taskReferenceName: 'ask', type: 'HUMAN' }];
  const { body } = await api.post('/v1/runs', { workflow: 'w', definition: { tasks } });
  const open = await api.post(`/v1/runs/${body.id}/retry`, {});
  expect(open.status).toBe(409);
  expect(open.body.error.code).toBe('run_not_finished');
  const id = await run();
  await ended(id);
  const refusals = [
    [await api.post(`/v1/runs/${id}/retry`, {}), 409, 'run_finished'],
    [await api.post(`/v1/runs/${id}/rerun`, { fromStep: 'none' }), 404, 'step_not_found'],
    [await api.post(`/v1/runs/${id}/rerun`, {}), 400, 'invalid_request'],
    [
      await api.post(`/v1/runs/${id}/rerun`, { fromStep: 'each', input: 1 }),
      400,
      'invalid_request',
    ],
  ] as const;
  for (const [{ status, body: refusal }, code, name] of refusals) {
    expect([status, refusal.error.code]).toEqual([code, name]);
  }
});

test('a child that is retried brings its parent back, also after a restart', async () => {
  const child = { tasks: [DEFINITION.tasks[0]] };
  const definition = {
    tasks: [
      {
        taskReferenceName: 'sub',
        type: 'SUB_WORKFLOW',
        subWorkflowParam: { name: 'child', workflowDefinition: child },
        inputParameters: { n: 7 },
      },
    ],
  };
  const { body: parent } = await api.post('/v1/runs', { workflow: 'p', definition });
  const failed = await ended(parent.id);
  expect(failed).toMatchObject({ status: 'failed', reason: 'child_failed' });
  const { childRunId } = failed.steps[0];
  await worker.stop();
  api.close();
  await server.kill();
  await start();
  isBroken = false;

  const { status, body } = await api.post(`/v1/runs/${childRunId}/retry`, {});
  expect(status, JSON.stringify(body)).toBe(200);

  const done = await ended(parent.id);
  expect(done).toMatchObject({ status: 'succeeded', output: { n: 3.5 } });
  expect(done.steps).toMatchObject([{ reference: 'sub', state: 'succeeded', childRunId }]);
  const { body: stored } = await api.get(`/v1/runs?workflow=p`);
  expect(stored.items).toMatchObject([{ id: parent.id, status: 'succeeded' }]);
});
