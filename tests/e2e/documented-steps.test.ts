import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STEP_KINDS } from '@sluice/core';
import { defineTask, Sluice, type Worker } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

/** A definition, then its input and the output that the page promises. */
const EXAMPLE = /```json\n([\s\S]*?)```\n\nInput `([^`]*)`, output `([^`]*)`/g;

const page = await readFile(new URL('../../docs/workflow-steps.md', import.meta.url), 'utf8');
/** Echoes what it gets, in place of the address on the page. */
const receiver = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  request.pipe(response);
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const echoUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const examples = [...page.replaceAll('https://api.example.com', echoUrl).matchAll(EXAMPLE)].map(
  ([, definition, input, output]) => ({
    definition: JSON.parse(definition),
    input: JSON.parse(input),
    output: JSON.parse(output),
  }),
);

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let worker: Worker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-steps-'));
  server = await ServerProcess.startServer(folder, '--callbacks-allow', '127.0.0.1');
  api = new ApiClient(server.url, 'http1');
  const mail = { tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }] };
  await api.put('/v1/workflows/send-mail/versions/1', mail);
  const width = { width: '${workflow.input.width}' };
  const resize = { tasks: [{ name: 'echo', taskReferenceName: 'echo', inputParameters: width }] };
  await api.put('/v1/workflows/resize/versions/1', resize);
  const echo = defineTask({ type: 'echo', run: (input: unknown) => input });
  worker = await new Sluice({ url: server.url }).work([echo], { slots: 4 });
});

afterAll(async () => {
  await worker.stop();
  receiver.close();
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Answers what a HUMAN of the page asks for. */
async function answer(id: string): Promise<void> {
  const isAsking = async (): Promise<boolean> => {
    return (await api.get(`/v1/runs/${id}`)).body.counts.running === 1;
  };
  await waitUntil(isAsking, { what: 'the run asks', timeoutMs: 20_000 });
  await api.post(`/v1/runs/${id}/steps/approve/complete`, { output: { by: 'ada' } });
}

test.each(examples)('example %# of the page runs', async ({ definition, input, output }) => {
  const { status, body } = await api.post('/v1/runs', { workflow: 'w', definition, input });
  expect(status, JSON.stringify(body)).toBe(201);
  if (JSON.stringify(definition).includes('HUMAN')) await answer(body.id);

  const { body: run } = await api.get(`/v1/runs/${body.id}/wait?timeoutMs=20000`);

  expect(run).toMatchObject({ status: 'succeeded', output });
});

test('every type of step has an example', () => {
  const used = JSON.stringify(examples);
  expect(STEP_KINDS.filter((kind) => kind !== 'SIMPLE' && !used.includes(`"${kind}"`))).toEqual([]);
  expect(examples.length).toBeGreaterThanOrEqual(STEP_KINDS.length - 1);
});
