import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice, type Worker } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let worker: Worker | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-forks-'));
  await start();
});

afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');
}

async function work(slots: number): Promise<void> {
  const double = defineTask({ type: 'double', run: ({ n }: { n: number }) => ({ n: 2 * n }) });
  worker = await new Sluice({ url: server.url }).work([double], { slots });
}

const DEFINITION = {
  tasks: [
    {
      taskReferenceName: 'each',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'double', forkTaskInputs: '${workflow.input.list}' },
    },
    { taskReferenceName: 'all', type: 'JOIN' },
  ],
  outputParameters: { sum: '${all.output[*].n}' },
};

async function run(count: number): Promise<string> {
  const list = Array.from({ length: count }, (_, n) => ({ n }));
  const request = { workflow: 'w', definition: DEFINITION, input: { list } };
  const { status, body } = await api.post('/v1/runs', request);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

test('a fork of thousands goes on after a kill, and its steps are paged', async () => {
  const id = await run(3000);
  const hasBegun = async (): Promise<boolean> => {
    return (await api.get(`/v1/runs/${id}`)).body.counts.running > 0;
  };
  await waitUntil(hasBegun, { what: 'branches have begun', timeoutMs: 20_000 });
  api.close();
  await server.kill();
  await start();
  const { body: waiting } = await api.get(`/v1/runs/${id}/explain`);
  expect(waiting.reasons[0]).toMatchObject({ code: 'task_waiting', step: '_double_0' });
  await work(64);

  const { body: ended } = await api.get(`/v1/runs/${id}/wait?timeoutMs=60000`);
  expect(ended.status).toBe('succeeded');
  expect(ended.output.sum).toHaveLength(3000);
  expect(ended.output.sum.slice(-2)).toEqual([5996, 5998]);
  expect(ended.steps).toHaveLength(1000);
  expect(ended.counts).toEqual({ succeeded: 3002 });
  const references: string[] = [];
  for (let more = ''; ; ) {
    const { body } = await api.get(`/v1/runs/${id}/steps?limit=500${more}`);
    references.push(...body.items.map(({ reference }: { reference: string }) => reference));
    if (body.nextCursor === null) break;
    more = `&cursor=${body.nextCursor}`;
  }
  expect(references).toHaveLength(3002);
  expect(references.slice(0, 3)).toEqual(['each', 'all', '_double_0']);
  expect(references.at(-1)).toBe('_double_2999');
});

test('a branch shows its run and its name, and can be completed by hand', async () => {
  const id = await run(2);
  const isThere = async (): Promise<boolean> => {
    return (await api.get('/v1/tasks?type=double')).body.items.length === 2;
  };
  await waitUntil(isThere, { what: 'the tasks of the branches', timeoutMs: 20_000 });
  const { body: tasks } = await api.get('/v1/tasks?type=double');
  expect(tasks.items.map(({ step }: { step: string }) => step).toSorted()).toEqual([
    '_double_0',
    '_double_1',
  ]);
  for (const n of [0, 1]) {
    const path = `/v1/runs/${id}/steps/_double_${n}/complete`;
    expect((await api.post(path, { output: { n } })).status).toBe(200);
  }

  const { body: ended } = await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`);
  expect(ended).toMatchObject({ status: 'succeeded', output: { sum: [0, 1] } });
  const { body: history } = await api.get(`/v1/runs/${id}/history`);
  expect(history.items.map(({ step }: { step: string }) => step)).toContain('_double_1');
});

test('a list that is too long fails the run, and the server goes on', async () => {
  const id = await run(10_001);

  const { body } = await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`);
  expect(body).toMatchObject({ status: 'failed', reason: 'too_many_branches' });
  expect(body.error.message).toContain('at most 10000');
});
