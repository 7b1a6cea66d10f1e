import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let receiver: ReturnType<typeof createServer>;
let url: string;
/** Status of the next answers; 200 when there are no more. */
let statuses: number[];
let got: { readonly headers: IncomingHttpHeaders; readonly body: string }[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-callback-steps-'));
  server = await ServerProcess.startServer(folder, '--callbacks-allow', '127.0.0.1');
  api = new ApiClient(server.url, 'http1');
  statuses = [];
  got = [];
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});

afterEach(async () => {
  receiver.close();
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function begin(callback: object): Promise<string> {
  const tell = {
    taskReferenceName: 'tell',
    type: 'CALLBACK',
    callback,
    inputParameters: { order: '${workflow.input.order}' },
  };
  const definition = { tasks: [tell] };
  const input = { order: 7, url };
  const { status, body } = await api.post('/v1/runs', { workflow: 'w', definition, input });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const ended = async (id: string) => (await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`)).body;

test('a run ends while its callback is delivered, signed, with the input of the step', async () => {
  const id = await begin({ url: '${workflow.input.url}', secret: SECRET });

  expect((await ended(id)).status).toBe('succeeded');

  await waitUntil(() => got.length === 1, { what: 'the callback arrives', timeoutMs: 20_000 });
  const [{ headers, body }] = got;
  const { timestamp, ...message } = JSON.parse(body);
  const about = { type: 'run.callback', runId: id, step: 'tell' };
  expect(message).toEqual({ ...about, data: { order: 7 } });
  expect(Date.parse(timestamp)).toBeGreaterThan(0);
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.alloc(24, 7);
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  expect(headers['webhook-signature']).toContain(`v1,${signature}`);
  const shown = JSON.stringify((await api.get(`/v1/runs/${id}`)).body);
  expect(shown).not.toContain(SECRET.slice(6));
});

test('an event for a webhook arrives, and with asyncComplete a call ends its step', async () => {
  const tell = (reference: string, more: object = {}) => {
    const inputParameters = { from: reference };
    const sink = '${workflow.input.sink}';
    return { taskReferenceName: reference, type: 'EVENT', sink, inputParameters, ...more };
  };
  const definition = { tasks: [tell('first'), tell('asks', { asyncComplete: true })] };
  const input = { sink: `webhook:${url}` };
  const { body: run } = await api.post('/v1/runs', { workflow: 'w', definition, input });

  await waitUntil(() => got.length === 2, { what: 'both arrive', timeoutMs: 20_000 });
  const heard = got.map(({ body }) => JSON.parse(body)).map(({ step, data }) => ({ step, data }));
  expect(heard).toContainEqual({ step: 'first', data: { from: 'first' } });
  expect(heard).toContainEqual({ step: 'asks', data: { from: 'asks' } });
  const delivered = async () =>
    (await api.get('/v1/callbacks?state=pending')).body.items.length === 0;
  await waitUntil(delivered, { what: 'both are delivered', timeoutMs: 20_000 });
  const states = (await api.get(`/v1/runs/${run.id}`)).body.steps.map(({ state }: never) => state);
  expect(states[0]).toBe('succeeded');
  expect(states[1]).not.toBe('succeeded');
  await api.post(`/v1/runs/${run.id}/steps/asks/complete`, { output: 5 });

  expect(await ended(run.id)).toMatchObject({ status: 'succeeded' });
});

test('a step that waits ends with its delivery, and fails when the receiver is gone', async () => {
  const waiting = await begin({ url, wait: true });
  expect(await ended(waiting)).toMatchObject({ status: 'succeeded', output: null });
  expect(got).toHaveLength(1);

  statuses.push(410);
  const failed = await ended(await begin({ url, wait: true }));

  expect(failed).toMatchObject({ status: 'failed', reason: 'step_failed' });
  expect(failed.steps[0].error).toMatchObject({
    code: 'callback_given_up',
    message: 'the callback was given up: gone (status 410)',
  });
  const { body } = await api.get('/v1/callbacks?state=given_up');
  expect(body.items).toMatchObject([{ type: 'run.callback', status: 410, failure: 'gone' }]);
});

test('a callback that the receiver refuses is tried again after a kill', async () => {
  statuses.push(503);
  const id = await begin({ url, wait: true });
  await waitUntil(() => got.length === 1, { what: 'the first try', timeoutMs: 20_000 });
  const { body } = await api.get(`/v1/runs/${id}/explain`);
  expect(body.reasons).toMatchObject([{ code: 'callback', step: 'tell' }]);
  api.close();
  await server.kill();

  server = await ServerProcess.startServer(folder, '--callbacks-allow', '127.0.0.1');
  api = new ApiClient(server.url, 'http1');

  expect((await ended(id)).status).toBe('succeeded');
  expect(got[1].headers['webhook-id']).toBe(got[0].headers['webhook-id']);
});

test('the receiver of a definition hears of the end of a run, also after a kill', async () => {
  statuses.push(503);
  const definition = {
    tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }],
    outputParameters: { order: '${workflow.input.order}' },
    callback: { url, on: ['succeeded'], secret: SECRET },
  };
  const request = { workflow: 'told', definition, input: { order: 7 }, correlationId: 'c-1' };
  const { body: started } = await api.post('/v1/runs', request);
  await waitUntil(() => got.length === 1, { what: 'the first try', timeoutMs: 20_000 });
  const isCounted = async () => (await api.get('/v1/callbacks')).body.items[0]?.tries === 1;
  await waitUntil(isCounted, { what: 'the try is recorded', timeoutMs: 20_000 });
  const { body: list } = await api.get('/v1/callbacks');
  expect(list.items).toMatchObject([
    { taskId: null, runId: started.id, type: 'run.succeeded', url, state: 'pending' },
  ]);
  const { body: queues } = await api.get('/v1/queues');
  expect(queues.items).toEqual([]);
  api.close();
  await server.kill();
  server = await ServerProcess.startServer(folder, '--callbacks-allow', '127.0.0.1');
  api = new ApiClient(server.url, 'http1');

  await api.post('/v1/callbacks/redeliver', { ids: [list.items[0].id] });
  await waitUntil(() => got.length === 2, { what: 'the second try', timeoutMs: 20_000 });

  const [first, second] = got;
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
  const { type, data } = JSON.parse(second.body);
  expect(type).toBe('run.succeeded');
  expect(data).toMatchObject({
    id: started.id,
    workflow: 'told',
    status: 'succeeded',
    correlationId: 'c-1',
    output: { order: 7 },
  });
  expect(data).not.toHaveProperty('steps');
  const signed = `${second.headers['webhook-id']}.${second.headers['webhook-timestamp']}.${second.body}`;
  const signature = createHmac('sha256', Buffer.alloc(24, 7)).update(signed).digest('base64');
  expect(second.headers['webhook-signature']).toContain(`v1,${signature}`);
});
