import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice, type Worker } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

const WAIT = { timeout: 20_000 };

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let worker: Worker | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-schedules-'));
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

async function crash(): Promise<void> {
  api.close();
  await server.kill();
  await start();
}

function put(id: string, body: object) {
  return api.put(`/v1/schedules/${id}`, body);
}

async function get(path: string) {
  return (await api.get(path)).body;
}

const NIGHTLY = {
  spec: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' },
  task: { type: 'report', input: { day: '{{scheduledAt}}' } },
};

test('a schedule fires, shows what it made, and goes on after a crash', async () => {
  const inputs: { n: string }[] = [];
  const tick = defineTask({ type: 'tick', run: (input: { n: string }) => void inputs.push(input) });
  worker = await new Sluice({ url: server.url }).work([tick]);
  const task = { type: 'tick', input: { n: '{{fireNumber}} of {{scheduleId}}' } };

  expect(await put('fast', { spec: { everyMs: 200 }, task })).toMatchObject({
    status: 201,
    body: { change: 'created', nextFires: { length: 5 } },
  });

  await vi.waitFor(() => expect(inputs[1]).toEqual({ n: '2 of fast' }), { timeout: 10_000 });
  const fires = await vi.waitFor(async () => {
    const { items } = await get('/v1/schedules/fast/fires?limit=2');
    expect(items.at(-1)).toMatchObject({ status: 'succeeded', endedAt: expect.any(String) });
    return items;
  }, WAIT);
  expect(Date.parse(fires[0].scheduledAt) - Date.parse(fires[1].scheduledAt)).toBe(200);

  await worker.stop();
  await crash();
  worker = await new Sluice({ url: server.url }).work([tick]);
  const before = inputs.length;
  await vi.waitFor(() => expect(inputs.length).toBeGreaterThan(before + 2), { timeout: 20_000 });
  const numbers = inputs.map(({ n }) => Number.parseInt(n, 10)).sort((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test('a change counts at once and survives a crash; a delete is for good', async () => {
  await put('nightly', NIGHTLY);
  const path = '/v1/schedules/nightly';
  const first = await get(path);
  expect((await put('nightly', NIGHTLY)).body).toMatchObject({ change: 'unchanged' });
  expect(await get(path)).toEqual(first);

  const patch = { spec: { cron: '0 4 * * *' }, tags: { team: 'data' } };
  const patched = await api.patch(path, patch);
  expect(patched.body).toMatchObject({
    revision: 2,
    spec: { cron: '0 4 * * *', timeZone: 'Europe/Berlin' },
    task: NIGHTLY.task,
  });
  await api.post(`${path}/pause`, {});
  await crash();

  expect(await get(path)).toMatchObject({ state: 'paused', nextFireAt: null, revision: 3 });
  expect(await get('/v1/schedules?tag.team=data&state=paused')).toMatchObject({
    items: [{ id: 'nightly' }],
    nextCursor: null,
  });
  expect(await get('/v1/schedules?type=other')).toMatchObject({ items: [] });
  expect((await get(`${path}/explain`)).reasons[0]).toMatchObject({ code: 'paused' });
  expect((await api.delete(path)).status).toBe(204);
  await crash();
  expect(await api.get(path)).toMatchObject({ status: 404 });
});

test('a trigger fires now, a preview lists times, a backfill covers a range', async () => {
  await put('nightly', NIGHTLY);
  const path = '/v1/schedules/nightly';

  const fired = await api.post(`${path}/trigger`, {});
  expect(fired).toMatchObject({ status: 201, body: { status: 'queued' } });
  expect((await get(`/v1/tasks/${fired.body.taskId}`)).tags).toMatchObject({
    'sluice.schedule': 'nightly',
  });
  expect(await get(`${path}/preview?count=2&after=2026-03-28T12:00:00Z`)).toEqual({
    items: [{ at: '2026-03-29T01:00:00.000Z' }, { at: '2026-03-30T01:00:00.000Z' }],
  });

  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-04T00:00:00Z' };
  const dry = await api.post(`${path}/backfill`, { ...range, dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { count: 3, dryRun: true } });
  const started = await api.post(`${path}/backfill`, { ...range, ratePerSec: 100 });
  expect(started).toMatchObject({ status: 202, body: { count: 3 } });
  await vi.waitFor(async () => {
    const { items } = await get(`${path}/fires`);
    expect(items.slice(0, 3).map(({ scheduledAt }: never) => scheduledAt)).toEqual([
      '2026-01-03T02:00:00.000Z',
      '2026-01-02T02:00:00.000Z',
      '2026-01-01T02:00:00.000Z',
    ]);
  }, WAIT);
  await vi.waitFor(async () => expect(await get(path)).toMatchObject({ backfill: null }), WAIT);
});

test('a second backfill, a trigger of a permanent one and unknown ids are refused', async () => {
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-04T00:00:00Z', ratePerSec: 0.001 };
  await put('nightly', NIGHTLY);
  await put('always', { spec: { permanent: true }, task: { type: 'daemon' } });
  await api.post('/v1/schedules/nightly/backfill', range);

  const codes = await Promise.all(
    [
      ['nightly/backfill', range],
      ['always/backfill', range],
      ['always/trigger', {}],
      ['nobody/trigger', {}],
    ].map(async ([path, body]) => (await api.post(`/v1/schedules/${path}`, body)).body.error.code),
  );

  expect(codes).toEqual([
    'backfill_running',
    'schedule_is_permanent',
    'schedule_is_permanent',
    'schedule_not_found',
  ]);
});

test('replicas run on workers, and are scaled and stopped', async () => {
  let running = 0;
  const daemon = defineTask({
    type: 'daemon',
    run: async (_: unknown, { signal }) => {
      running += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      running -= 1;
    },
  });
  worker = await new Sluice({ url: server.url }).work([daemon], { slots: 10 });
  const path = '/v1/schedules/always';
  await put('always', { spec: { permanent: true, replicas: 2 }, task: { type: 'daemon' } });
  await vi.waitFor(() => expect(running).toBe(2), { timeout: 10_000 });

  await api.patch(path, { spec: { replicas: 4 } });
  await vi.waitFor(() => expect(running).toBe(4), { timeout: 10_000 });
  await api.patch(path, { spec: { replicas: 1 } });
  await vi.waitFor(() => expect(running).toBe(1), { timeout: 10_000 });
  // A handler ends a moment before the server knows.
  await vi.waitFor(async () => expect(await get(path)).toMatchObject({ running: { length: 1 } }), {
    timeout: 10_000,
  });

  await api.delete(path);
  await vi.waitFor(() => expect(running).toBe(0), { timeout: 10_000 });
});

test('a run is started by its schedule', async () => {
  const definition = { tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }] };
  await put('flow', { spec: { at: 0 }, run: { workflow: 'flow', input: { a: 1 } } });
  await vi.waitFor(async () => {
    const { lastSkip } = await get('/v1/schedules/flow');
    expect(lastSkip).toMatchObject({ reason: 'workflow_not_found' });
  }, WAIT);

  const version = '/v1/workflows/flow/versions/1';
  await api.put(version, definition);
  const { body } = await api.post('/v1/schedules/flow/trigger', {});

  expect(await get(`/v1/runs/${body.runId}/wait`)).toMatchObject({ status: 'succeeded' });
  await vi.waitFor(async () => {
    const { items } = await get('/v1/schedules/flow/fires');
    expect(items).toMatchObject([{ runId: body.runId, status: 'succeeded' }]);
  }, WAIT);
});

test('tasks and runs that a schedule made are listed together, page by page', async () => {
  await api.put('/v1/workflows/flow/versions/1', {
    tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }],
  });
  const made: string[] = [];
  const trigger = async () => {
    const { body } = await api.post('/v1/schedules/both/trigger', {});
    made.unshift(body.taskId ?? body.runId);
  };
  await put('both', NIGHTLY);
  await trigger();
  await put('both', { spec: NIGHTLY.spec, run: { workflow: 'flow' } });
  await trigger();
  await trigger();
  await put('both', NIGHTLY);
  await trigger();

  await vi.waitFor(async () => {
    const listed: string[] = [];
    let path = '/v1/schedules/both/fires?limit=3';
    for (;;) {
      const { items, nextCursor } = await get(path);
      for (const { taskId, runId } of items) listed.push(taskId ?? runId);
      if (nextCursor === null) break;
      path = `/v1/schedules/both/fires?limit=3&cursor=${nextCursor}`;
    }
    expect(listed).toEqual(made);
  }, WAIT);
});

test('the audit record of a batch names the schedules', async () => {
  const task = { type: 'report' };
  const id = (n: number) => `schedule-${n}`;
  const items = Array.from({ length: 30 }, (_, n) => {
    return { op: 'put', id: id(n), spec: { cron: '@daily' }, task };
  });

  await api.post('/v1/schedules/batch', items);

  const { items: records } = await get('/v1/audit');
  expect(records[0]).toMatchObject({
    action: 'schedules_changed',
    subject: '30 schedules',
    detail: expect.stringMatching(/^schedule-0, schedule-1, .* and 1\d more$/),
  });
});

test('a batch: each change is made whole or not at all', async () => {
  const task = { type: 'report' };
  const { status, body } = await api.post('/v1/schedules/batch', [
    { op: 'put', id: 'a', spec: { cron: '@daily' }, task },
    { op: 'put', id: 'b', spec: { cron: '0 0 30 2 *' }, task },
    { op: 'patch', id: 'a', jitterMs: 1000 },
    { op: 'patch', id: 'c', jitterMs: 1000 },
    { op: 'put', id: 'd', spec: { everyMs: 5000, mode: 'fixedDelay' }, task },
    { op: 'delete', id: 'd' },
  ]);

  expect(status).toBe(200);
  expect(body.items).toMatchObject([
    { id: 'a', ok: true, change: 'created' },
    { id: 'b', error: { code: 'invalid_request', details: [{ path: '/1/spec/cron' }] } },
    { id: 'a', ok: true, change: 'replaced' },
    { id: 'c', error: { code: 'schedule_not_found' } },
    { id: 'd', ok: true, change: 'created' },
    { id: 'd', ok: true, change: 'deleted' },
  ]);
  expect(await get('/v1/schedules')).toMatchObject({ items: [{ id: 'a', jitterMs: 1000 }] });
});

const REFUSED: readonly [body: object, path: string][] = [
  [{ spec: { cron: '61 * * * *' }, task: { type: 'a' } }, '/spec/cron'],
  [{ spec: { cron: '@daily', timeZone: 'Mars/X' }, task: { type: 'a' } }, '/spec/timeZone'],
  [{ spec: { everyMs: 50 }, task: { type: 'a' } }, '/spec/everyMs'],
  [{ spec: { everyMs: 5000, mode: 'sometimes' }, task: { type: 'a' } }, '/spec/mode'],
  [{ spec: { at: 'tomorrow' }, task: { type: 'a' } }, '/spec/at'],
  [{ spec: { at: 1, cron: '@daily' }, task: { type: 'a' } }, '/spec'],
  [{ spec: { permanent: true, replicas: 0 }, task: { type: 'a' } }, '/spec/replicas'],
  [{ spec: { permanent: true }, overlap: 'skip', task: { type: 'a' } }, '/overlap'],
  [{ spec: { cron: '@daily' } }, '/task'],
  [{ spec: { cron: '@daily' }, task: { type: 'a' }, run: { workflow: 'b' } }, '/run'],
  [{ spec: { cron: '@daily' }, task: { type: 'a', runAt: 5 } }, '/task/runAt'],
  [{ spec: { cron: '@daily' }, task: { type: 'a' }, misfireMax: 5 }, '/misfireMax'],
  [{ spec: { cron: '@daily' }, task: { type: 'a' }, window: { from: 5, to: 4 } }, '/window/to'],
  [{ spec: { cron: '@daily' }, task: { type: 'a' }, window: { to: 4 } }, '/spec'],
  [
    { spec: { cron: '@daily' }, task: { type: 'a', tags: { 'sluice.x': '' } } },
    '/task/tags/sluice.x',
  ],
  [{ spec: { cron: '@daily' }, task: { type: 'a' }, misfire: 'maybe' }, '/misfire'],
];

test('a schedule that cannot be is refused at the place that is wrong, a dry run too', async () => {
  for (const [body, path] of REFUSED) {
    const answer = await put('bad', body);
    expect(answer, path).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
    const { details } = (answer.body as { error: { details: { path: string }[] } }).error;
    expect(details.map((detail) => detail.path)).toContain(path);
    const dry = await put('bad?dryRun=true', body);
    expect(dry.status, path).toBe(400);
  }
});

test('the secret of a callback is never shown, and a patch keeps it', async () => {
  const callback = {
    url: 'https://example.com/hook',
    on: ['failed'],
    secret: 'c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0',
  };
  await put('nightly', { ...NIGHTLY, task: { ...NIGHTLY.task, callback } });
  const path = '/v1/schedules/nightly';
  await api.patch(path, { jitterMs: 5 });

  expect(JSON.stringify([await get(path), await get('/v1/schedules')])).not.toContain('c2VjcmV0');
  expect(
    await put('nightly', { ...NIGHTLY, jitterMs: 5, task: { ...NIGHTLY.task, callback } }),
  ).toMatchObject({ body: { change: 'unchanged' } });
});

test('the SDK makes, reads and fires schedules', async () => {
  const sluice = new Sluice({ url: server.url });
  const report = defineTask({ type: 'report', run: ({ day }: { day: string }) => day });
  const { schedules } = sluice;
  worker = await sluice.work([report]);

  const spec = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' };
  const put = await schedules.put('nightly', spec, report, { day: 'today' }, { jitterMs: 5 });
  expect(put).toMatchObject({ change: 'created', nextFires: { length: 5 } });
  const { taskId } = await schedules.trigger('nightly');
  await vi.waitFor(async () => {
    expect(await sluice.tasks.get(taskId as string)).toMatchObject({ output: 'today' });
  }, WAIT);
  expect(await schedules.patch('nightly', { jitterMs: null })).not.toHaveProperty('jitterMs');
  expect(await schedules.page({ type: 'report' })).toMatchObject({ items: [{ id: 'nightly' }] });
  expect(await schedules.preview('nightly', 3)).toHaveLength(3);
  const changed = await schedules.changeMany([
    { op: 'put', id: 'second', spec: { everyMs: 5000 }, task: { type: 'report' } },
    { op: 'patch', id: 'second', jitterMs: 5000 },
    { op: 'delete', id: 'second' },
  ]);
  expect(changed).toMatchObject([
    { id: 'second', ok: true, change: 'created' },
    { id: 'second', error: { code: 'invalid_request', details: [{ path: '/1/jitterMs' }] } },
    { id: 'second', ok: true, change: 'deleted' },
  ]);
  expect(await schedules.pause('nightly')).toMatchObject({ state: 'paused' });
  expect(await schedules.explain('nightly')).toMatchObject({ reasons: [{ code: 'paused' }] });
  await schedules.delete('nightly');
  await expect(schedules.resume('nightly')).rejects.toMatchObject({ code: 'schedule_not_found' });
  await sluice.close();
});

test('a batch with an input that is too large changes everything else', async () => {
  const task = { type: 'report', input: 'x'.repeat(300_000) };
  const { status, body } = await api.post('/v1/schedules/batch', [
    { op: 'put', id: 'a', spec: { cron: '@daily' }, task: { type: 'report' } },
    { op: 'put', id: 'b', spec: { cron: '@daily' }, task },
    { op: 'put', id: 'c', spec: { cron: '@daily' }, task: { type: 'report' } },
  ]);
  expect(status).toBe(200);
  expect(body.items).toMatchObject([
    { ok: true },
    { error: { code: 'payload_too_large', details: [{ path: '/1/task/input' }] } },
    { ok: true },
  ]);
});

test('a backfill of times to come and a patch that mixes kinds are refused', async () => {
  await put('nightly', NIGHTLY);
  const path = '/v1/schedules/nightly';
  const range = { from: '2026-01-01T00:00:00Z', to: '9999-01-01T00:00:00Z' };
  const future = await api.post(`${path}/backfill`, range);
  expect(future.body.error.message).toContain('/to is in the future');
  const mixed = await api.patch(path, { spec: { everyMs: 1000 } });
  expect(mixed.body.error.message).toContain('has cron and everyMs');
  expect(
    (await api.patch(path, { spec: { everyMs: 1000, cron: null, timeZone: null } })).status,
  ).toBe(200);
});
