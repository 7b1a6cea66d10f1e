import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';
import { simple, VIDEO } from './video-workflow.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let session: SessionUnderTest;
let sessionId: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await start();
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true });
});

const WORKER = { types: [{ type: 'probe' }, { type: 'cut' }, { type: 'sum' }] };

/** Memory keeps few ended tasks and steps. */
async function start(resume?: object): Promise<void> {
  server = await ServerProcess.startServer(folder, '--limits-finished-tasks-max', '12');
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1', { ...WORKER, ...resume });
  ({ sessionId } = await session.welcomed());
}

async function kill(): Promise<void> {
  session.disconnect();
  api.close();
  await server.kill();
}

async function register(name = 'video', definition: object = VIDEO) {
  const { status, body } = await api.put(`/v1/workflows/${name}/versions/1`, definition);
  expect(status, JSON.stringify(body)).toBe(201);
}

async function begin(request: object = {}): Promise<string> {
  const body = { workflow: 'video', input: { url: 'a.mp4' }, ...request };
  const answer = await api.post('/v1/runs', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

/** Ends the next task; returns what the worker got. */
async function answer(output: unknown): Promise<{ id: string; input?: unknown; type: string }> {
  const task = await session.takeTask();
  await api.report(sessionId, [{ lease: task.lease, kind: 'succeeded', output }]);
  return task;
}

const FOUR_STEPS = [{ length: 'long' }, { n: 1 }, { n: 2 }, { total: 3 }];

async function finish(request: object = {}): Promise<string> {
  const id = await begin(request);
  for (const output of FOUR_STEPS) await answer(output);
  return id;
}

describe('a run', () => {
  beforeEach(async () => register());

  test('takes the way that its values decide, and ends with its output', async () => {
    const id = await begin({ correlationId: 'order-7', tags: { team: 'blue' }, priority: 6 });
    const ended = api.get(`/v1/runs/${id}/wait`);
    const tasks = [];
    for (const output of FOUR_STEPS) tasks.push(await answer(output));

    const { body: run } = await ended;

    expect(tasks.map(({ input }) => input)).toEqual([
      { url: 'a.mp4' },
      { part: 1 },
      { part: 2 },
      { left: 1, right: 2 },
    ]);
    expect(run).toMatchObject({
      ...{ id, workflow: 'video', version: 1, status: 'succeeded', priority: 6 },
      ...{ correlationId: 'order-7', tags: { team: 'blue' }, input: { url: 'a.mp4' } },
      ...{ output: { total: 3 }, error: null, variables: {}, stepsCursor: null },
      counts: { succeeded: 7, skipped: 1 },
    });
    const steps = run.steps.map(({ reference, type, state }: never) =>
      [reference, type, state].join(' '),
    );
    expect(steps).toEqual([
      'probe SIMPLE succeeded',
      'by-length SWITCH succeeded',
      'fork FORK_JOIN succeeded',
      'left SIMPLE succeeded',
      'right SIMPLE succeeded',
      'join JOIN succeeded',
      'whole NOOP skipped',
      'sum SIMPLE succeeded',
    ]);
    expect(run.steps[0]).toMatchObject({
      ...{ taskId: tasks[0].id, attempt: 1, name: 'probe' },
      ...{ input: { url: 'a.mp4' }, output: { length: 'long' } },
    });
    const { body: task } = await api.get(`/v1/tasks/${tasks[3].id}`);
    expect(task).toMatchObject({ runId: id, step: 'sum', state: 'succeeded', priority: 6 });
  });

  test('shows what it does while it runs, and its steps page by page', async () => {
    const id = await begin();
    await session.takeTask();

    const { body: run } = await api.get(`/v1/runs/${id}/wait?timeoutMs=0`);
    const { body: first } = await api.get(`/v1/runs/${id}/steps?limit=3`);
    const rest = await api.get(`/v1/runs/${id}/steps?cursor=${first.nextCursor}`);

    expect(run).toMatchObject({ status: 'running', counts: { running: 1, pending: 7 } });
    expect(first.items).toHaveLength(3);
    expect([...first.items, ...rest.body.items]).toEqual(run.steps);
    expect(rest.body.nextCursor).toBeNull();
    expect((await api.get(`/v1/runs/${id}/steps?cursor=eA`)).status).toBe(400);
  });

  test('is followed by the changes of its tasks', async () => {
    const id = await begin();
    await api.post('/v1/tasks', { type: 'other' });
    const stream = await fetch(`${server.url}/v1/events?run=${id}`);
    await answer(FOUR_STEPS[0]);

    let text = '';
    for await (const bytes of stream.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes('"to":"succeeded"')) break;
    }

    const changes = [...text.matchAll(/^data: (\{"task".*)$/gm)].map(([, data]) =>
      JSON.parse(data),
    );
    expect(changes.length).toBeGreaterThan(0);
    for (const { run } of changes) expect(run).toBe(id);
    const unknown = await api.get('/v1/events?run=r_00000000000000000000');
    expect(unknown.body.error.code).toBe('run_not_found');
  });

  test('hands a blob on as its output', async () => {
    const text = JSON.stringify('x'.repeat(300_000));
    const sha256 = createHash('sha256').update(text).digest('hex');
    await fetch(`${server.url}/v1/blobs/${sha256}`, { method: 'PUT', body: text });
    const definition = {
      tasks: [
        simple('probe', 'probe'),
        simple('cut', 'cut', { whole: '${probe.output}' }),
        simple('sum', 'sum'),
      ],
    };
    const id = await begin({ workflow: 'large', definition });
    const { lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, kind: 'succeeded', outputBlob: sha256 }]);

    const { body: run } = await api.get(`/v1/runs/${id}/wait`);

    expect(run.steps[0]).toMatchObject({ state: 'succeeded', outputBlob: sha256 });
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'value_too_large', step: 'cut' },
    });
    const only = await begin({ workflow: 'only', definition: { tasks: [simple('sum', 'sum')] } });
    const { lease: next } = await session.takeTask();
    await api.report(sessionId, [{ lease: next, kind: 'succeeded', outputBlob: sha256 }]);
    const { body: ended } = await api.get(`/v1/runs/${only}/wait`);
    expect(ended).toMatchObject({ status: 'succeeded', outputBlob: sha256, error: null });
    expect((await api.get('/v1/runs?workflow=only')).body.items).toMatchObject([
      { id: only, outputBlob: sha256 },
    ]);
  });

  test('fails with its step, whose task is not retried by itself', async () => {
    const id = await begin();
    const { id: taskId, lease } = await session.takeTask();
    const error = { message: 'no such file' };
    await api.report(sessionId, [{ lease, kind: 'failed', error, retryable: false }]);

    const { body: run } = await api.get(`/v1/runs/${id}/wait`);

    expect(run).toMatchObject({
      ...{ status: 'failed', reason: 'step_failed', output: null },
      error: { code: 'step_failed', step: 'probe' },
    });
    expect(run.steps[0]).toMatchObject({ state: 'failed', error });
    expect(await api.post(`/v1/tasks/${taskId}/retry`)).toMatchObject({
      status: 409,
      body: { error: { code: 'task_of_run' } },
    });
    expect((await api.get('/v1/dead-letters/groups')).body.items).toEqual([]);
  });

  test('is cancelled: its worker is told, and it ends when the task has stopped', async () => {
    const id = await begin();
    const { lease } = await session.takeTask();

    const { status, body } = await api.post(`/v1/runs/${id}/cancel`);

    expect([status, body.status, body.endingAs]).toEqual([202, 'running', 'cancelled']);
    expect(await session.takeCancel()).toMatchObject({ lease });
    await api.report(sessionId, [{ lease, kind: 'cancelled' }]);
    expect((await api.get(`/v1/runs/${id}/wait`)).body.status).toBe('cancelled');
    expect((await api.post(`/v1/runs/${id}/cancel`)).status).toBe(200);
    const done = await finish();
    expect(await api.post(`/v1/runs/${done}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: 'run_finished' } },
    });
  });

  test('goes on after kill -9', async () => {
    const id = await begin({ correlationId: 'kept' });
    await answer(FOUR_STEPS[0]);
    const { lease } = await session.takeTask();
    await kill();
    await start({ resume: { sessionId, running: [lease] } });

    await api.report(sessionId, [{ lease, kind: 'succeeded', output: { n: 1 } }]);
    for (const output of FOUR_STEPS.slice(2)) await answer(output);

    const { body: run } = await api.get(`/v1/runs/${id}/wait`);
    expect(run).toMatchObject({ status: 'succeeded', output: { total: 3 } });
    // On a busy machine a list may be behind what was committed.
    const isListed = async () => {
      const { items } = (await api.get('/v1/runs?correlationId=kept')).body;
      expect(items).toMatchObject([{ id, workflow: 'video' }]);
      return items[0].status === 'succeeded';
    };
    await waitUntil(isListed, { what: 'the end of the run is listed', timeoutMs: 60_000 });
  });

  test('reads the same once it has left memory, also after kill -9', async () => {
    const id = await finish({ tags: { team: 'red' } });
    const { body: before } = await api.get(`/v1/runs/${id}`);
    const isGone = async () => {
      await finish();
      const metrics = await (await fetch(`${server.ownerUrl}/metrics`)).text();
      const kept = Number(/^sluice_tasks_finished (\d+)$/m.exec(metrics)?.[1]);
      return kept > 0;
    };
    await waitUntil(isGone, { what: 'runs leave memory', timeoutMs: 60_000 });

    expect((await api.get(`/v1/runs/${id}`)).body).toEqual(before);
    const { body: page } = await api.get(`/v1/runs/${id}/steps?limit=1000`);
    expect(page.items).toEqual(before.steps);
    const { taskId } = before.steps[0];
    expect((await api.get(`/v1/tasks/${taskId}`)).body).toMatchObject({ runId: id, step: 'probe' });

    await kill();
    await start();
    expect((await api.get(`/v1/runs/${id}`)).body).toEqual(before);
    expect((await api.get('/v1/runs?tag.team=red')).body.items).toMatchObject([{ id }]);
  });
});

test('runs are found by each filter', async () => {
  await register();
  await register('other', { tasks: [{ taskReferenceName: 'only', type: 'NOOP' }] });
  const first = await begin({ correlationId: 'c-1', tags: { team: 'blue', size: 'l' } });
  const { startedAt } = (await api.get(`/v1/runs/${first}`)).body;
  const second = await begin({ workflow: 'other', correlationId: 'c-2', tags: { team: 'red' } });
  const find = async (query: string) => {
    const { body } = await api.get(`/v1/runs?${query}`);
    return body.items.map(({ id }: { id: string }) => id);
  };

  expect(await find('')).toEqual([second, first]);
  expect(await find('workflow=other')).toEqual([second]);
  expect(await find('status=running')).toEqual([first]);
  expect(await find('status=succeeded')).toEqual([second]);
  expect(await find('correlationId=c-1')).toEqual([first]);
  expect(await find('tag.team=red')).toEqual([second]);
  expect(await find('tag.team=blue&tag.size=l')).toEqual([first]);
  expect(await find('tag.team=blue&tag.size=s')).toEqual([]);
  expect(await find(`until=${startedAt}`)).toEqual([]);
  expect(await find(`since=${startedAt}`)).toEqual([second, first]);
  expect(await find('workflow=video&status=succeeded')).toEqual([]);
  const page = await api.get('/v1/runs?limit=1');
  expect(await find(`cursor=${page.body.nextCursor}`)).toEqual([first]);
  expect((await api.get('/v1/tasks')).body.items).toHaveLength(1);
  const metrics = await (await fetch(`${server.ownerUrl}/metrics`)).text();
  expect(metrics).toContain('\nsluice_tasks_submitted_total 1\n');
});

test('a key sees the runs of its namespace, and each role does what it may', async () => {
  const nobody = new KeyedApi(server.url);
  const admin = nobody.as(await nobody.keyFor('admin', 'default'));
  const [viewer, submitter, operator] = await Promise.all(
    (['viewer', 'submitter', 'operator'] as const).map(async (role) =>
      admin.as(await admin.keyFor(role, 'shop')),
    ),
  );
  const other = admin.as(await admin.keyFor('admin', 'elsewhere'));
  const put = { method: 'PUT', path: '/v1/workflows/video/versions/1', body: VIDEO };

  expect((await submitter.call(put)).status).toBe(403);
  expect((await operator.call(put)).status).toBe(201);
  expect((await viewer.post('/v1/runs', { workflow: 'video' })).status).toBe(403);
  expect((await other.post('/v1/runs', { workflow: 'video' })).status).toBe(404);
  const { body } = await submitter.post('/v1/runs', { workflow: 'video' });
  expect((await viewer.get(`/v1/runs/${body.id}`)).status).toBe(200);
  expect((await other.get(`/v1/runs/${body.id}`)).body.error.code).toBe('run_not_found');
  expect((await other.get('/v1/runs')).body.items).toEqual([]);
  expect((await submitter.post(`/v1/runs/${body.id}/cancel`)).status).toBe(403);
  expect((await operator.post(`/v1/runs/${body.id}/cancel`)).body.status).toBe('cancelled');
});
