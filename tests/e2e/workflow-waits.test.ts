import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-waits-'));
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

async function run(definition: object, input: unknown = {}): Promise<string> {
  const { status, body } = await api.post('/v1/runs', { workflow: 'w', definition, input });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

async function ended(id: string) {
  const { body } = await api.get(`/v1/runs/${id}/wait?timeoutMs=20000`);
  return body;
}

const inline = (expression: string, more: object = {}) => ({
  taskReferenceName: 'script',
  type: 'INLINE',
  inputParameters: { expression, n: '${workflow.input.n}' },
  ...more,
});

test('scripts compute, decide and repeat, and their results survive a kill', async () => {
  const id = await run(
    {
      tasks: [
        inline('$.n * 2'),
        {
          taskReferenceName: 'loop',
          type: 'DO_WHILE',
          loopCondition: '$.loop.iteration < $.most',
          inputParameters: { most: '${script.output.result}' },
          loopOver: [
            {
              taskReferenceName: 'step',
              type: 'SET_VARIABLE',
              inputParameters: { last: '${loop.output.iteration}' },
            },
          ],
        },
        {
          taskReferenceName: 'choice',
          type: 'SWITCH',
          evaluatorType: 'javascript',
          expression: "$.last > 3 ? 'many' : 'few'",
          inputParameters: { last: '${workflow.variables.last}' },
          decisionCases: { many: [{ taskReferenceName: 'ask', type: 'HUMAN' }] },
        },
      ],
      outputParameters: { iterations: '${loop.output.iteration}', said: '${ask.output.by}' },
    },
    { n: 2 },
  );
  const isAsked = async (): Promise<boolean> => {
    const { body } = await api.get(`/v1/runs/${id}`);
    return body.steps.some(
      ({ reference, state }: { reference: string; state: string }) =>
        reference === 'ask' && state === 'running',
    );
  };
  await waitUntil(isAsked, { what: 'the run asks', timeoutMs: 20_000 });
  await restart();

  const path = `/v1/runs/${id}/steps/ask/complete`;
  const { status } = await api.post(path, { output: { by: 'ada' } });
  expect(status).toBe(200);

  const { output, steps } = await ended(id);
  expect(output).toEqual({ iterations: 4, said: 'ada' });
  expect(steps.map(({ reference }: { reference: string }) => reference)).toContain('step__4');
  const again = await api.post(path, {});
  expect(again.status).toBe(409);
  expect(again.body.error.code).toBe('run_finished');
});

test.each([
  ['for (;;);', 'it ran for more than 1 s'],
  ['new Array(1e8).fill(0)', 'more than 32 MiB'],
  ['(function f() { f(); })()', 'it calls itself too deeply'],
  ['process.exit(1)', "'process' is not defined"],
])('a script that does %s fails its run and nothing else', async (script, message) => {
  const { status, error, steps } = await ended(await run({ tasks: [inline(script)] }));

  expect(status).toBe('failed');
  expect(error).toMatchObject({ code: 'script_failed', step: 'script' });
  expect(error.message).toContain(message);
  expect(steps[0].error.message).toContain(message);
  expect((await ended(await run({ tasks: [inline('1')] }))).output).toEqual({ result: 1 });
});

test('a script that cannot be read is refused, with its place', async () => {
  const tasks = [inline('if ('), { ...inline('1 +'), taskReferenceName: 'other' }];
  const { status, body } = await api.put('/v1/workflows/bad/versions/1', { tasks });

  expect(status).toBe(400);
  expect(body.error.details).toMatchObject([
    { path: '/tasks/0/inputParameters/expression', code: 'bad_script' },
    { path: '/tasks/1/inputParameters/expression', code: 'bad_script' },
  ]);
  const inlined = await api.post('/v1/runs', { workflow: 'w', definition: { tasks } });
  expect(inlined.body.error.details[0].path).toBe('/definition/tasks/0/inputParameters/expression');
});

test('a query that cannot be read is refused, and one that fails costs its step', async () => {
  const query = (queryExpression: string) => ({
    taskReferenceName: 'query',
    type: 'JSON_JQ_TRANSFORM',
    inputParameters: { queryExpression, list: [1, 2] },
  });
  const refused = await api.put('/v1/workflows/query/versions/1', {
    tasks: [query('.list | map(')],
  });
  const path = '/tasks/0/inputParameters/queryExpression';
  expect(refused.body.error.details).toMatchObject([{ path, code: 'bad_script' }]);

  const run = { workflow: 'q', definition: { tasks: [query('.list.a')] } };
  expect((await api.post('/v1/runs?waitMs=20000', run)).body).toMatchObject({
    status: 'failed',
    error: { code: 'script_failed', message: expect.stringContaining('Cannot index array') },
  });
});

test('a wait ends by itself, also after a restart, and shows what it waits for', async () => {
  const wait = { taskReferenceName: 'w', type: 'WAIT', inputParameters: { duration: '2s' } };
  const id = await run({ tasks: [wait] });
  const { body } = await api.get(`/v1/runs/${id}`);
  expect(body.steps[0]).toMatchObject({ state: 'running', input: { duration: '2s' } });
  await restart();

  const { status, startedAt, endedAt } = await ended(id);

  expect(status).toBe('succeeded');
  expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeGreaterThanOrEqual(2000);
});

test('a paused run begins nothing, and is found by its status', async () => {
  const session = new SessionUnderTest(server.url, 'http1');
  const { sessionId } = await session.welcomed();
  const tasks = ['one', 'two'].map((taskReferenceName) => ({ name: 'hello', taskReferenceName }));
  const id = await run({ tasks });
  const { lease } = await session.takeTask();
  expect((await api.post(`/v1/runs/${id}/pause`, {})).body.status).toBe('paused');
  await api.report(sessionId, [{ lease, kind: 'succeeded', output: 1 }]);

  const { body } = await api.get('/v1/runs?status=paused');
  expect(body.items.map((each: { id: string }) => each.id)).toEqual([id]);
  const { body: paused } = await api.get(`/v1/runs/${id}`);
  expect(paused.counts).toEqual({ succeeded: 1, pending: 1 });

  expect((await api.post(`/v1/runs/${id}/resume`, {})).body.status).toBe('running');
  const next = await session.takeTask();
  await api.report(sessionId, [{ lease: next.lease, kind: 'succeeded', output: 2 }]);
  expect((await ended(id)).output).toBe(2);
  const { body: history } = await api.get(`/v1/runs/${id}/history`);
  expect(
    history.items.map(({ step, state }: { step: string; state: string }) => `${step} ${state}`),
  ).toEqual([
    'null running',
    'one running',
    'null paused',
    'one succeeded',
    'null running',
    'two running',
    'two succeeded',
    'null succeeded',
  ]);
  expect((await api.post(`/v1/runs/${id}/pause`, {})).body.error.code).toBe('run_finished');
  session.disconnect();
});

test('calls about steps say what is wrong', async () => {
  const id = await run({
    tasks: [
      { taskReferenceName: 'ask', type: 'HUMAN' },
      { taskReferenceName: 'then', type: 'HUMAN' },
      {
        taskReferenceName: 'each',
        type: 'DO_WHILE',
        items: [1],
        loopOver: [{ taskReferenceName: 'inside', type: 'HUMAN' }],
      },
    ],
  });
  const call = (step: string, body: unknown = {}) =>
    api.post(`/v1/runs/${id}/steps/${step}/complete`, body);

  expect((await call('nobody')).body.error).toMatchObject({
    code: 'step_not_found',
    message: "the run has no step 'nobody'",
  });
  expect((await call('then')).body.error).toMatchObject({
    code: 'step_not_waiting',
    message: "step 'then' has not begun yet",
  });
  expect((await call('inside')).body.error).toMatchObject({
    code: 'step_not_found',
    message: "step 'inside' has not begun yet",
  });
  expect((await call('inside__1__1')).body.error.message).toBe(
    "the run has no step 'inside__1__1'",
  );
  expect((await call('ask', { outputs: 1 })).body.error.code).toBe('invalid_request');
  const large = await call('ask', { output: 'x'.repeat(300_000) });
  expect(large.body.error.code).toBe('payload_too_large');
  expect(large.body.error.message).not.toContain('Blob');
  const failed = await api.post(`/v1/runs/${id}/steps/ask/fail`, { error: { message: 'no' } });
  expect(failed.body).toMatchObject({ status: 'failed', error: { message: 'no', step: 'ask' } });
  const { body: audit } = await api.get('/v1/audit');
  expect(audit.items[0]).toMatchObject({ action: 'step_failed', subject: `${id}/ask` });
});

test('a run that takes too long times out', async () => {
  const tasks = [{ taskReferenceName: 'ask', type: 'HUMAN' }];
  const { status, reason } = await ended(await run({ tasks, timeoutSeconds: 1 }));

  expect([status, reason]).toEqual(['timed_out', 'run_timeout']);
});

test('explain names what a run waits for, down to the task', async () => {
  const hour = { duration: '1 hour' };
  const branches = [
    [{ name: 'nobody-runs-it', taskReferenceName: 'task' }],
    [{ taskReferenceName: 'wait', type: 'WAIT', inputParameters: hour }],
    [{ taskReferenceName: 'ask', type: 'HUMAN' }],
    [
      {
        taskReferenceName: 'loop',
        type: 'DO_WHILE',
        items: [1, 2],
        loopOver: [{ taskReferenceName: 'inner', type: 'HUMAN' }],
      },
    ],
  ];
  const tasks = [
    { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: branches },
    { taskReferenceName: 'join', type: 'JOIN' },
  ];
  const id = await run({ tasks });
  const explained = async () => (await api.get(`/v1/runs/${id}/explain`)).body;

  const { running, reasons } = await explained();
  expect(running).toBe(true);
  expect(
    reasons.map(({ code, step }: { code: string; step: string }) => `${step} ${code}`),
  ).toEqual(['task task_waiting', 'wait time', 'ask call', 'inner__1 call']);
  expect(reasons[0].task.reasons[0].code).toBe('no_worker_for_type');
  expect(reasons[0].message).toContain('nobody-runs-it');

  await api.post(`/v1/runs/${id}/pause`, {});
  expect((await explained()).reasons[0].code).toBe('paused');
  await api.post(`/v1/runs/${id}/cancel`, {});
  expect(await explained()).toMatchObject({ running: false, reasons: [{ code: 'finished' }] });
});
