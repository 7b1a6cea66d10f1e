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

const tasks = [{ taskReferenceName: 'nothing', type: 'NOOP' }];
const inputSchema = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'number', minimum: 1 }, speed: { enum: ['normal', 'express'] } },
};
const outputParameters = { speed: '${workflow.input.speed}' };
const outputSchema = { properties: { speed: { type: 'string' } } };

test('a run whose input does not fit is refused with every field', async () => {
  const path = '/v1/workflows/strict/versions/1';
  expect((await api.put(path, { tasks, inputSchema })).status).toBe(201);

  expect(await api.post('/v1/runs', { workflow: 'strict', input: { speed: 1 } })).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'invalid_request',
        message: 'the input does not fit the workflow: /input/amount is required (and 1 more)',
        details: [
          { path: '/input/amount', problem: 'is required' },
          { path: '/input/speed', problem: 'must be one of "normal", "express"' },
        ],
      },
    },
  });
  const many = [
    { workflow: 'strict', input: { amount: 1 } },
    { workflow: 'strict', input: { amount: 0 } },
  ];
  expect((await api.post('/v1/runs', many)).body.error.details).toEqual([
    { path: '/1/input/amount', problem: 'must be >= 1' },
  ]);
  expect((await api.get('/v1/runs?workflow=strict')).body.items).toEqual([]);
  expect((await api.post('/v1/runs', many[0])).status).toBe(201);
});

test('so is a run that brings its definition', async () => {
  const run = { workflow: 'inline', definition: { tasks, inputSchema }, input: [] };

  expect((await api.post('/v1/runs', run)).body.error.details).toEqual([
    { path: '/input', problem: 'must be object' },
  ]);
});

test('a run whose output does not fit fails', async () => {
  const definition = { tasks, outputParameters, outputSchema };
  const run = { workflow: 'out', definition, input: { speed: 3 } };

  expect((await api.post('/v1/runs?waitMs=10000', run)).body).toMatchObject({
    status: 'failed',
    error: { code: 'bad_value', message: expect.stringContaining('/speed must be string') },
  });
});

test('a definition with schemas that cannot be used is refused with every place', async () => {
  const inside = { tasks, inputSchema: { type: 'JSON' } };
  const sub = {
    taskReferenceName: 'sub',
    type: 'SUB_WORKFLOW',
    subWorkflowParam: { name: 'inside', workflowDefinition: inside },
  };
  const bad = {
    tasks: [sub],
    inputSchema: { properties: { a: { type: 'text' } } },
    outputSchema: { data: { $ref: 'https://example.com' } },
  };

  const { status, body } = await api.put('/v1/workflows/bad/versions/1', bad);

  expect(status).toBe(400);
  expect(body.error.code).toBe('invalid_definition');
  expect(body.error.details).toMatchObject([
    { path: '/inputSchema/properties/a/type', code: 'bad_schema' },
    { path: '/outputSchema/data/$ref', code: 'bad_schema' },
    { path: '/tasks/0/subWorkflowParam/workflowDefinition/inputSchema/data', code: 'bad_schema' },
  ]);
});
