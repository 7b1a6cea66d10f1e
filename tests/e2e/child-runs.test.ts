import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-children-'));
  await start();
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');
}

async function restart(): Promise<void> {
  api.close();
  await server.kill();
  await start();
}

async function register(name: string, definition: object): Promise<void> {
  const { status, body } = await api.put(`/v1/workflows/${name}/versions/1`, definition);
  expect(status, JSON.stringify(body)).toBe(201);
}

async function begin(workflow: string, input: unknown = {}): Promise<string> {
  const { status, body } = await api.post('/v1/runs', { workflow, input });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const ended = async (id: string) => (await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`)).body;
const shown = async (id: string) => (await api.get(`/v1/runs/${id}`)).body;

const sub = (name: string) => ({
  taskReferenceName: 'sub',
  type: 'SUB_WORKFLOW',
  subWorkflowParam: { name },
  inputParameters: { n: '${workflow.input.n}' },
});
const ask = { taskReferenceName: 'ask', type: 'HUMAN' };

/** Three levels; the lowest one asks somebody. Returns the ids from the top. */
async function threeLevels(): Promise<string[]> {
  await register('low', { tasks: [ask], outputParameters: { n: '${workflow.input.n}' } });
  await register('mid', { tasks: [sub('low')] });
  await register('top', { tasks: [sub('mid')] });
  const top = await begin('top', { n: 7 });
  const ids = [top];
  await waitUntil(
    async () => {
      const { steps } = await shown(ids.at(-1) as string);
      if (steps[0].childRunId !== null) ids.push(steps[0].childRunId);
      return ids.length === 3;
    },
    { what: 'all levels have begun', timeoutMs: 20_000 },
  );
  return ids;
}

test('runs wait for runs below them, show each other, and survive a kill', async () => {
  const [top, mid, low] = await threeLevels();
  await restart();
  const parent = { runId: mid, step: 'sub', relation: 'sub_workflow' };
  expect(await shown(low)).toMatchObject({ status: 'running', parent });
  expect((await shown(top)).parent).toBeNull();
  const { body } = await api.get(`/v1/runs/${top}/explain`);
  expect(body.running).toBe(true);
  expect(body.reasons).toHaveLength(1);
  expect(body.reasons[0]).toMatchObject({ code: 'child', step: 'sub', childRunId: mid });
  expect(body.reasons[0].message).toContain(`waits for run ${low}: step "ask" waits for a call`);

  await api.post(`/v1/runs/${low}/steps/ask/complete`, {});

  expect(await ended(top)).toMatchObject({ status: 'succeeded', output: { n: 7 } });
  await restart();
  expect(await shown(low)).toMatchObject({ status: 'succeeded', parent });
  expect((await shown(top)).steps[0]).toMatchObject({ childRunId: mid, output: { n: 7 } });
  const page = await api.get('/v1/runs?workflow=mid');
  expect(page.body.items[0]).toMatchObject({ id: mid, parent: { runId: top } });
});

test('a cancel of the top ends every run below it', async () => {
  const [top, mid, low] = await threeLevels();

  const { status } = await api.post(`/v1/runs/${top}/cancel`, {});

  expect([200, 202]).toContain(status);
  expect(await ended(top)).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
  for (const id of [mid, low]) {
    expect(await shown(id)).toMatchObject({ status: 'cancelled', reason: 'parent_stopped' });
  }
});

test('a failure below names the run and its cause', async () => {
  const [top, mid, low] = await threeLevels();
  const refused = await api.post(`/v1/runs/${top}/steps/sub/complete`, {});
  expect(refused.body.error.code).toBe('step_not_waiting');

  await api.post(`/v1/runs/${low}/steps/ask/fail`, { error: { message: 'not today' } });

  const { status, reason, error } = await ended(top);
  expect({ status, reason }).toEqual({ status: 'failed', reason: 'child_failed' });
  expect(error.message).toContain(`run ${mid} of "mid" ended as failed`);
  expect(error.message).toMatch(/not today$/);
});

test('a workflow that calls itself without end fails, and the server goes on', async () => {
  await register('self', { tasks: [sub('self')] });
  await register('again', {
    tasks: [
      {
        taskReferenceName: 'start',
        type: 'START_WORKFLOW',
        inputParameters: { startWorkflow: { name: 'again' } },
      },
    ],
  });

  const { error } = await ended(await begin('self'));
  const { status } = await ended(await begin('again'));

  expect(error.message).toMatch(/at most 32 deep; does "self" call itself\?$/);
  expect(status).toBe('succeeded');
  const isDone = async () => (await api.get('/v1/runs?status=running')).body.items.length === 0;
  await waitUntil(isDone, { what: 'no run goes on', timeoutMs: 20_000 });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('sluice_tasks_submitted_total 0');
});

test('a definition that stands in another one is checked as a whole', async () => {
  const workflowDefinition = {
    tasks: [
      { taskReferenceName: 'script', type: 'INLINE', inputParameters: { expression: 'a b' } },
      { name: 'x', taskReferenceName: 'one', timeouts: { runMs: -1 } },
    ],
  };
  const subWorkflowParam = { name: 'inside', workflowDefinition };
  const tasks = [{ taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam }];

  const { status, body } = await api.put('/v1/workflows/w/versions/1', { tasks });

  expect(status).toBe(400);
  const at = '/tasks/0/subWorkflowParam/workflowDefinition/tasks';
  const paths = body.error.details.map(({ path }: { path: string }) => path);
  expect(paths).toContain(`${at}/1/timeouts/runMs`);
  const fixed = { ...workflowDefinition, tasks: workflowDefinition.tasks.slice(0, 1) };
  const scripts = {
    tasks: [{ ...tasks[0], subWorkflowParam: { name: 'a', workflowDefinition: fixed } }],
  };
  const second = await api.put('/v1/workflows/w/versions/1', scripts);
  expect(second.body.error.details).toMatchObject([
    { path: `${at}/0/inputParameters/expression`, code: 'bad_script' },
  ]);
});

test('a run that failed starts its failure workflow', async () => {
  await register('refund', { tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }] });
  await register('pay', { tasks: [ask], failureWorkflow: 'refund' });
  const id = await begin('pay', { order: 7 });

  await api.post(`/v1/runs/${id}/steps/ask/fail`, { error: { message: 'declined' } });

  const { error } = await ended(id);
  const { status, input, parent } = await ended(error.failureRunId);
  expect({ status, parent }).toEqual({
    status: 'succeeded',
    parent: { runId: id, step: null, relation: 'failure_workflow' },
  });
  const about = { workflowId: id, reason: 'declined', failureStatus: 'FAILED' };
  expect(input).toMatchObject({ order: 7, ...about, failureStep: 'ask', failureTaskId: null });
});
