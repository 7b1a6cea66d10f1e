import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const ALLOW = ['--callbacks-allow', '127.0.0.1'];

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const receivers: ReturnType<typeof createServer>[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-http-'));
});

afterEach(async () => {
  for (const each of receivers.splice(0)) {
    each.closeAllConnections();
    each.close();
  }
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(...args: string[]): Promise<void> {
  server = await ServerProcess.startServer(folder, ...args);
  api = new ApiClient(server.url, 'http1');
}

async function receiver(answer: RequestListener): Promise<string> {
  const made = createServer(answer);
  receivers.push(made);
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

async function begin(definition: object, input: object): Promise<string> {
  const { status, body } = await api.post('/v1/runs', { workflow: 'w', definition, input });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const ended = async (id: string) => (await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`)).body;

const call = (more: object = {}) => ({
  tasks: [
    {
      taskReferenceName: 'call',
      type: 'HTTP',
      inputParameters: {
        http_request: { uri: '${workflow.input.uri}', method: 'POST', body: { n: 1 } },
      },
      retry: { maxAttempts: 3, delayMs: 10 },
      ...more,
    },
  ],
  outputParameters: {
    status: '${call.output.response.statusCode}',
    body: '${call.output.response.body}',
  },
});

test('a step sends a request and has its answer, after a failure that it retries', async () => {
  await start(...ALLOW);
  let calls = 0;
  const uri = await receiver((request, response) => {
    calls += 1;
    response.setHeader('content-type', 'application/json');
    if (calls === 1) response.writeHead(503).end();
    else request.pipe(response);
  });

  const run = await ended(await begin(call(), { uri }));

  expect(run).toMatchObject({ status: 'succeeded', output: { status: 200, body: { n: 1 } } });
  expect(run.steps[0]).toMatchObject({ type: 'HTTP', name: 'sluice:http', attempt: 2 });
  expect(calls).toBe(2);
});

test.each([
  ['in the step', call({ asyncComplete: true })],
  [
    'in the request',
    call({
      inputParameters: { http_request: { uri: '${workflow.input.uri}', asyncComplete: true } },
    }),
  ],
])('with asyncComplete %s, an answer leaves the step to a call', async (_, definition) => {
  await start(...ALLOW);
  const uri = await receiver((_, response) => response.end('{}'));
  const id = await begin(definition, { uri });
  const step = async () => (await api.get(`/v1/runs/${id}`)).body.steps[0];
  const isLeft = async () => {
    const { taskId } = await step();
    if (taskId === null) return false;
    return (await api.get(`/v1/tasks/${taskId}`)).body.reason === 'later';
  };
  await waitUntil(isLeft, { what: 'the request was answered', timeoutMs: 20_000 });
  expect((await step()).state).toBe('running');

  await server.kill();
  await start(...ALLOW);
  await api.post(`/v1/runs/${id}/steps/call/complete`, {
    output: { response: { statusCode: 1, body: 'by a call' } },
  });

  expect(await ended(id)).toMatchObject({
    status: 'succeeded',
    output: { status: 1, body: 'by a call' },
  });
});

test('a request that cannot succeed is not retried, and names no secret', async () => {
  await start(...ALLOW);
  const uri = await receiver((_, response) => response.writeHead(404).end('no such thing'));

  const run = await ended(await begin(call(), { uri: `${uri}/x?key=hidden` }));

  expect(run).toMatchObject({ status: 'failed', reason: 'step_failed' });
  const { error, attempt } = run.steps[0];
  expect(error).toEqual({
    code: 'http_404',
    message: `POST ${uri}/x answered 404 Not Found: no such thing`,
  });
  expect(attempt).toBe(1);
});

test('an address that callbacks may not use is refused', async () => {
  await start();
  let calls = 0;
  const uri = await receiver((_, response) => {
    calls += 1;
    response.end();
  });

  const run = await ended(await begin(call(), { uri }));

  expect(run.steps[0].error.code).toBe('address_not_allowed');
  expect(calls).toBe(0);
});

test('a request under way is sent again after a kill, and its run ends', async () => {
  await start(...ALLOW);
  let calls = 0;
  const uri = await receiver((_, response) => {
    calls += 1;
    // The first one is never answered.
    if (calls > 1) response.end('done');
  });
  const id = await begin(call(), { uri });
  await waitUntil(() => calls === 1, { what: 'the request arrives', timeoutMs: 20_000 });
  api.close();
  await server.kill();

  await start(...ALLOW);

  const run = await ended(id);
  expect(run).toMatchObject({ status: 'succeeded', output: { body: 'done' } });
  expect(run.steps[0].attempt).toBe(1);
});

test('a cancel cuts a request that hangs', async () => {
  await start(...ALLOW);
  let isCut = false;
  let isCalled = false;
  const uri = await receiver((request) => {
    isCalled = true;
    request.on('close', () => {
      isCut = true;
    });
  });
  const id = await begin(call(), { uri });
  await waitUntil(() => isCalled, { what: 'the request arrives', timeoutMs: 20_000 });

  await api.post(`/v1/runs/${id}/cancel`, {});

  expect((await ended(id)).status).toBe('cancelled');
  await waitUntil(() => isCut, { what: 'the connection is cut', timeoutMs: 20_000 });
});

test('a definition with a bad request is refused with every problem', async () => {
  await start();
  const inputParameters = { uri: 'ftp://x', method: 'BREW', headers: [], readTimeOut: 0 };
  const tasks = [
    { taskReferenceName: 'call', type: 'HTTP', inputParameters, retry: { maxAttempts: 0 } },
    { taskReferenceName: 'none', type: 'HTTP' },
  ];

  const { status, body } = await api.put('/v1/workflows/w/versions/1', { tasks });

  expect(status).toBe(400);
  const paths = body.error.details.map(({ path }: { path: string }) => path);
  const at = '/tasks/0/inputParameters';
  expect(paths).toEqual([
    `${at}/headers`,
    `${at}/method`,
    `${at}/readTimeOut`,
    `${at}/uri`,
    '/tasks/0/retry/maxAttempts',
    '/tasks/1/inputParameters/uri',
  ]);
});

test.each([
  ['nested too deeply', `${'['.repeat(600)}${']'.repeat(600)}`, 'answer_not_kept'],
  // In characters it would fit.
  ['too large in bytes', JSON.stringify('é'.repeat(131_071)), 'answer_too_large'],
])('an answer that is %s fails its step at once', async (_, answer, code) => {
  await start(...ALLOW);
  const uri = await receiver((__, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(answer);
  });

  const run = await ended(await begin(call(), { uri }));

  expect(run).toMatchObject({ status: 'failed', reason: 'step_failed' });
  expect(run.steps[0]).toMatchObject({ attempt: 1, error: { code } });
});
