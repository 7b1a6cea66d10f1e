import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { PushedTask } from '../support/worker-client.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const sessions: SessionUnderTest[] = [];
let type = '';
let count = 0;

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

afterEach(() => {
  for (const session of sessions.splice(0)) session.disconnect();
});

async function submit(task: object = {}): Promise<string> {
  count += 1;
  type = `operated-${count}`;
  const { body } = await api.post('/v1/tasks', { type, ...task });
  return body.id;
}

/** A worker that holds the task that was submitted last. */
async function hold(): Promise<{
  task: PushedTask;
  session: SessionUnderTest;
  report: (report: object) => Promise<unknown>;
}> {
  const session = new SessionUnderTest(server.url, 'http1', { types: [{ type }] });
  sessions.push(session);
  const { sessionId } = await session.welcomed();
  const task = await session.takeTask();
  const report = async (words: object) => {
    const { body } = await api.report(sessionId, [{ lease: task.lease, ...words }]);
    return body.outcomes[0];
  };
  return { task, session, report };
}

describe('cancel', () => {
  test('a task that nobody holds ends at once, and ending it again changes nothing', async () => {
    const id = await submit();

    const first = await api.post(`/v1/tasks/${id}/cancel`);
    expect(first).toMatchObject({ status: 200, body: { id, state: 'cancelled' } });

    const again = await api.post(`/v1/tasks/${id}/cancel`);
    expect(again).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  });

  test('its worker is told, and whatever that reports the task is cancelled', async () => {
    const id = await submit();
    const { session, report } = await hold();

    const asked = await api.post(`/v1/tasks/${id}/cancel`, { graceMs: 60_000 });
    expect(asked).toMatchObject({ status: 202, body: { state: 'leased' } });
    expect(asked.body.cancelRequestedAt).toMatch(/^20/);
    expect(await session.takeCancel()).toMatchObject({ id, graceMs: 60_000, reason: 'cancelled' });

    expect(await report({ kind: 'succeeded', output: 'too late' })).toBe('ok');
    expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({
      state: 'cancelled',
      output: null,
      attempts: [{ outcome: 'succeeded', output: 'too late' }],
    });
  });

  test('a task that succeeded is not cancelled', async () => {
    const id = await submit();
    const { report } = await hold();
    await report({ kind: 'succeeded' });

    const { status, body } = await api.post(`/v1/tasks/${id}/cancel`);
    expect([status, body.error.code]).toEqual([409, 'task_finished']);
  });

  test('many at once have an outcome each', async () => {
    const [first, second] = [await submit(), await submit()];

    const { status, body } = await api.post('/v1/tasks/cancel', { ids: [first, 't_no', second] });

    expect(status).toBe(200);
    expect(body.items).toEqual([
      { id: first, ok: true, state: 'cancelled' },
      { id: 't_no', error: { code: 'task_not_found', message: expect.any(String) } },
      { id: second, ok: true, state: 'cancelled' },
    ]);
  });

  test('many that ended are retried at once, by ids or by a filter', async () => {
    const lot = { tags: { lot: 'retried' } };
    const [first, second, live] = [await submit(lot), await submit(lot), await submit(lot)];
    await api.post('/v1/tasks/cancel', { ids: [first, second] });

    const byIds = await api.post('/v1/tasks/retry', { ids: [first, 't_no', live] });
    const filter = { ...lot, state: 'cancelled' };
    const dry = await api.post('/v1/tasks/retry', { filter, dryRun: true });
    const byFilter = await api.post('/v1/tasks/retry', { filter });
    const neither = await api.post('/v1/tasks/retry', {});
    const both = await api.post('/v1/tasks/retry', { ids: [first], dryRun: true });

    expect(byIds.body.items).toEqual([
      { id: first, ok: true, state: 'queued' },
      { id: 't_no', error: { code: 'task_not_found', message: expect.any(String) } },
      { id: live, error: { code: 'task_not_finished', message: expect.any(String) } },
    ]);
    expect(dry.body).toEqual({ matched: 1, retried: 0, dryRun: true });
    expect(byFilter.body).toEqual({ matched: 1, retried: 1, dryRun: false });
    expect([neither.status, both.status]).toEqual([400, 400]);
    expect((await api.get(`/v1/tasks/${second}`)).body.state).toBe('queued');
  });

  test('a filter says what they have in common; a dry run only counts', async () => {
    await submit();
    const tasks = Array.from({ length: 1500 }, (_, n) => {
      return { type, tags: { kind: n % 3 === 0 ? 'odd' : 'even' } };
    });
    await api.post('/v1/tasks', tasks.slice(0, 1000));
    await api.post('/v1/tasks', tasks.slice(1000));
    const filter = { type, tags: { kind: 'even' } };

    const dry = await api.post('/v1/tasks/cancel', { filter, dryRun: true });
    expect(dry.body).toEqual({ matched: 1000, cancelled: 0, requested: 0, dryRun: true });

    const real = await api.post('/v1/tasks/cancel', { filter });
    expect(real.body).toEqual({ matched: 1000, cancelled: 1000, requested: 0, dryRun: false });
    const { body } = await api.get('/v1/queues?limit=1000');
    const queue = body.items.find((each: { type: string }) => each.type === type);
    expect(queue).toMatchObject({ depth: 501 });
  });

  test('neither ids nor a filter is a mistake', async () => {
    const { status, body } = await api.post('/v1/tasks/cancel', { dryRun: true });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('retry', () => {
  test('a task that failed runs again under its id, with all its attempts', async () => {
    const id = await submit({ retry: { maxAttempts: 1 } });
    const { session, report } = await hold();
    await report({ kind: 'failed', error: { message: 'no' } });
    expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({
      state: 'failed',
      attempts: [{ outcome: 'failed', error: { message: 'no' } }],
    });

    const { status } = await api.post(`/v1/tasks/${id}/retry`);

    expect(status).toBe(200);
    expect(await session.takeTask()).toMatchObject({ id, attempt: 1 });
  });

  test('one that has not ended, or that succeeded, is not retried', async () => {
    const id = await submit();
    const early = await api.post(`/v1/tasks/${id}/retry`);
    expect([early.status, early.body.error.code]).toEqual([409, 'task_not_finished']);

    const { report } = await hold();
    await report({ kind: 'succeeded' });
    const late = await api.post(`/v1/tasks/${id}/retry`);
    expect([late.status, late.body.error.code]).toEqual([409, 'task_finished']);
  });
});

describe('pause and resume', () => {
  test('a paused task goes to nobody until it is resumed', async () => {
    const id = await submit();
    expect((await api.post(`/v1/tasks/${id}/pause`)).body).toMatchObject({ state: 'paused' });
    const { body } = await api.get(`/v1/tasks/${id}/explain`);
    expect(body).toMatchObject({ running: false, reasons: [{ code: 'paused' }] });

    expect((await api.post(`/v1/tasks/${id}/resume`)).body).toMatchObject({ state: 'queued' });
    await hold();

    const running = await api.post(`/v1/tasks/${id}/pause`);
    expect([running.status, running.body.error.code]).toEqual([409, 'task_running']);
  });
});

describe('patch', () => {
  test('changes what is said, clears what is null and leaves the rest', async () => {
    const timeouts = { queueMs: 60_000, runMs: 1000 };
    const id = await submit({ delayMs: 3_600_000, tags: { a: '1', b: '2' }, timeouts });

    const patch = {
      priority: 8,
      runAt: null,
      input: { n: 2 },
      tags: { a: null, c: '3' },
      timeouts: { runMs: null },
    };
    const { status, body } = await api.patch(`/v1/tasks/${id}`, patch);

    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'queued', priority: 8, input: { n: 2 } });
    expect(body.tags).toEqual({ b: '2', c: '3' });
    expect(body.timeouts).toEqual({ queueMs: 60_000 });
  });

  test('a time in the future makes it wait, as ISO 8601 or as a number', async () => {
    const id = await submit();
    const iso = await api.patch(`/v1/tasks/${id}`, { runAt: '2090-01-01T00:00:00.000Z' });
    expect(iso.body).toMatchObject({ state: 'waiting', runAt: '2090-01-01T00:00:00.000Z' });

    const number = await api.patch(`/v1/tasks/${id}`, { runAt: Date.UTC(2091, 0) });
    expect(number.body).toMatchObject({ runAt: '2091-01-01T00:00:00.000Z' });
  });

  test('an unknown field, a bad time and an empty patch are named', async () => {
    const id = await submit();
    for (const [patch, path] of [
      [{ colour: 1 }, '/colour'],
      [{ runAt: 'soon' }, '/runAt'],
      [{ priority: 9 }, '/priority'],
      [{}, ''],
    ] as const) {
      const { status, body } = await api.patch(`/v1/tasks/${id}`, patch);
      expect([status, body.error.details[0].path]).toEqual([400, path]);
    }
  });

  test('an array has an outcome per item', async () => {
    const idle = await submit();
    const held = await submit();
    await hold();

    const { status, body } = await api.patch('/v1/tasks', [
      { id: idle, priority: 1 },
      { id: held, priority: 1 },
    ]);

    expect(status).toBe(200);
    expect(body.items).toEqual([
      { id: idle, ok: true, state: 'queued' },
      { id: held, error: { code: 'task_running', message: expect.any(String) } },
    ]);
  });
});

describe('words from outside', () => {
  test('a signal reaches the worker that holds the task', async () => {
    const id = await submit();
    const early = await api.post(`/v1/tasks/${id}/signal`, { name: 'go' });
    expect([early.status, early.body.error.code]).toEqual([409, 'task_not_leased']);
    const { session } = await hold();

    const signal = { name: 'bitrate', data: { kbps: 800 } };
    expect((await api.post(`/v1/tasks/${id}/signal`, signal)).status).toBe(204);

    expect(await session.takeSignal()).toMatchObject({ id, ...signal });
  });

  test('a signal for a worker whose connection is broken says so', async () => {
    const id = await submit();
    const { session } = await hold();
    session.disconnect();
    const signal = async () => (await api.post(`/v1/tasks/${id}/signal`, { name: 'go' })).status;
    // Until the server notices the break, the signal goes into a dead connection.
    await waitUntil(async () => (await signal()) !== 204, {
      what: 'the server has noticed',
      timeoutMs: 10_000,
    });

    const { status, body } = await api.post(`/v1/tasks/${id}/signal`, { name: 'go' });
    expect([status, body.error.code]).toEqual([409, 'worker_unreachable']);
  });

  test('a task whose handler left the end to others ends from outside', async () => {
    const id = await submit();
    const { report } = await hold();
    expect(await report({ kind: 'later' })).toBe('ok');

    const { status, body } = await api.post(`/v1/tasks/${id}/complete`, { output: [1] });

    expect([status, body.state, body.output]).toEqual([200, 'succeeded', [1]]);
    const again = await api.post(`/v1/tasks/${id}/fail`, { error: { message: 'no' } });
    expect([again.status, again.body.error.code]).toEqual([409, 'task_finished']);
  });

  test('an operator ends a task without success', async () => {
    const id = await submit();
    const error = { message: 'not needed any more', code: 'OPERATOR' };
    const { body } = await api.post(`/v1/tasks/${id}/fail`, { error });
    expect(body).toMatchObject({ state: 'failed', reason: 'ended_outside', error });
  });
});

describe('progress', () => {
  test('shows while the task runs', async () => {
    const id = await submit();
    const { report } = await hold();
    await report({ kind: 'progress', fraction: 0.25, message: 'first pass' });

    expect((await api.get(`/v1/tasks/${id}`)).body.progress).toEqual({
      fraction: 0.25,
      message: 'first pass',
    });

    await report({ kind: 'succeeded' });
    expect((await api.get(`/v1/tasks/${id}`)).body.progress).toBe(null);
  });
});

describe('lines that handlers write', () => {
  test('are kept by attempt, once however often they are sent, and read or followed', async () => {
    const id = await submit({ retry: { delaysMs: [0] } });
    const { session, report } = await hold();
    const log = { kind: 'log', seq: 1, lines: ['first', 'ünd'] };
    expect(await report(log)).toBe('ok');
    expect(await report(log)).toBe('ok');
    const following = fetch(`${server.url}/v1/tasks/${id}/logs?follow=true`);
    await report({ kind: 'failed', error: { message: 'no' } });
    const second = await session.takeTask();
    const { sessionId } = await session.welcomed();
    await api.report(sessionId, [
      { lease: second.lease, kind: 'log', seq: 1, lines: ['again'] },
      { lease: second.lease, kind: 'succeeded' },
    ]);

    const { body } = await api.get(`/v1/tasks/${id}/logs`);
    expect(body.items).toEqual([
      { attempt: 1, at: expect.any(String), line: 'first' },
      { attempt: 1, at: expect.any(String), line: 'ünd' },
      { attempt: 2, at: expect.any(String), line: 'again' },
    ]);
    const only = await api.get(`/v1/tasks/${id}/logs?attempt=1&limit=1`);
    expect(only.body.items.map(({ line }: { line: string }) => line)).toEqual(['ünd']);
    const events = await (await following).text();
    expect(events.match(/"line":"[^"]*"/g)).toEqual([
      '"line":"first"',
      '"line":"ünd"',
      '"line":"again"',
    ]);
    expect(events).toContain('event: end\ndata: {"state":"succeeded"}');
  });

  test('of a lease that is not current are not kept', async () => {
    const id = await submit();
    const { report } = await hold();
    await report({ kind: 'succeeded' });
    expect(await report({ kind: 'log', seq: 1, lines: ['late'] })).not.toBe('ok');
    expect((await api.get(`/v1/tasks/${id}/logs`)).body).toEqual({ items: [] });
  });
});

test('every operation on an unknown task is a 404 that says so', async () => {
  const id = 't_00000000000000000000';
  const calls = [
    api.get(`/v1/tasks/${id}`),
    api.get(`/v1/tasks/${id}/explain`),
    api.get(`/v1/tasks/${id}/logs`),
    api.get(`/v1/tasks/${id}/logs?follow`),
    api.get(`/v1/tasks/${id}/wait?timeoutMs=1`),
    api.patch(`/v1/tasks/${id}`, { priority: 1 }),
    api.post(`/v1/tasks/${id}/fail`, { error: { message: 'x' } }),
    api.post(`/v1/tasks/${id}/signal`, { name: 'x' }),
    ...['cancel', 'retry', 'pause', 'resume', 'complete'].map((name) => {
      return api.post(`/v1/tasks/${id}/${name}`);
    }),
  ];
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.error.code]).toEqual([404, 'task_not_found']);
  }
});

describe('calls that take no body', () => {
  test.each(['retry', 'pause', 'resume'])('%s refuses what it would ignore', async (word) => {
    const { body: task } = await api.post('/v1/tasks', { type: 'no-body' });

    const said = await api.post(`/v1/tasks/${task.id}/${word}`, { graceMs: 1 });

    expect([said.status, said.body.error.details]).toEqual([
      400,
      [{ path: '/graceMs', problem: expect.any(String) }],
    ]);
  });
});
