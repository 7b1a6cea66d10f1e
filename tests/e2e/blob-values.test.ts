/** Expressions that look into outputs which are blobs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, defineWorkflow, Sluice, type Worker } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const ITEMS = Array.from({ length: 5000 }, (_, index) => ({
  name: `item ${index}`,
  text: 'x'.repeat(100),
}));

const list = defineTask({ type: 'list', run: () => ({ items: ITEMS, most: 2 }) });
const take = defineTask({ type: 'take', run: (input: { name: string }) => ({ got: input.name }) });

const DEFINITION = {
  tasks: [
    { name: 'list', taskReferenceName: 'a' },
    {
      name: 'take',
      taskReferenceName: 'b',
      inputParameters: { name: '${a.output.items[3].name}' },
    },
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      loopCondition: '$.loop.iteration < $.most',
      inputParameters: { most: '${a.output.most}' },
      loopOver: [{ taskReferenceName: 'body', type: 'NOOP' }],
    },
  ],
  outputParameters: {
    got: '${b.output.got}',
    count: '${a.output.items.length()}',
    last: '${a.output.items[-1].name}',
    rounds: '${loop.output.iteration}',
  },
};
const OUTPUT = { got: 'item 3', count: 5000, last: 'item 4999', rounds: 2 };

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let worker: Worker;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-blob-values-'));
  await start(list);
});

afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

async function start(...handlers: Parameters<Sluice['work']>[0]): Promise<void> {
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');
  worker = await new Sluice({ url: server.url }).work(handlers, { slots: 4 });
}

async function stop(): Promise<void> {
  await worker.stop();
  api.close();
  await server.kill();
}

test('a step and the output of a run take values from a blob, across a kill', async () => {
  const { body } = await api.post('/v1/runs', { workflow: 'w', definition: DEFINITION });
  const isWaiting = async (): Promise<boolean> => {
    const { body: run } = await api.get(`/v1/runs/${body.id}`);
    return run.steps[1]?.taskId !== null && run.counts.running === 1 && run.counts.succeeded === 1;
  };
  await waitUntil(isWaiting, { what: 'the second step waits for a worker', timeoutMs: 20_000 });
  await stop();
  await start(list, take);

  const { body: run } = await api.get(`/v1/runs/${body.id}/wait?timeoutMs=20000`);

  expect(run).toMatchObject({ status: 'succeeded', output: OUTPUT });
});

test('TestSluice looks into blobs as a server does', async () => {
  const flow = defineWorkflow('flow', { version: 1 }, (w) => {
    const a = w.step('a', list, {});
    const b = w.step('b', take, { name: a.output.items[3].name });
    return { got: b.output.got, last: a.output.items[4999].name };
  });
  const tests = new TestSluice([list, take]);

  const run = await tests.start(flow);

  expect(await run.result()).toEqual({ got: 'item 3', last: 'item 4999' });
});
