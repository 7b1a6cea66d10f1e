import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Protocol } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

describe.each<Protocol>(['http1', 'h2c'])('over %s', (protocol) => {
  let api: ApiClient;
  const sessions: SessionUnderTest[] = [];
  /** Each test has a separate task type, so that tests do not take each other's tasks. */
  let type = '';
  let count = 0;

  beforeAll(() => {
    api = new ApiClient(server.url, protocol);
  });

  afterAll(() => api.close());

  afterEach(() => {
    for (const session of sessions.splice(0)) session.disconnect();
  });

  function freshType(): string {
    count += 1;
    type = `${protocol}-${count}`;
    return type;
  }

  function openSession(request: object = {}): SessionUnderTest {
    const session = new SessionUnderTest(server.url, protocol, { types: [{ type }], ...request });
    sessions.push(session);
    return session;
  }

  test('a task goes from submit to a worker and its output comes back', async () => {
    const submitted = await api.post('/v1/tasks', { type: freshType(), input: { name: 'Ädä' } });
    expect(submitted).toEqual({
      status: 201,
      body: { id: expect.stringMatching(/^t_[0-9a-v]{20}$/), state: 'queued', deduplicated: false },
    });

    const session = openSession();
    const { sessionId } = await session.welcomed();
    const task = await session.takeTask();
    expect(task).toEqual({
      id: submitted.body.id,
      type,
      resources: { slots: 1 },
      attempt: 1,
      lease: expect.stringMatching(/^l_/),
      input: { name: 'Ädä' },
    });

    const started = await api.report(sessionId, [{ lease: task.lease, kind: 'started' }]);
    expect(started).toEqual({ status: 200, body: { outcomes: ['ok'] } });
    const running = await api.get(`/v1/tasks/${task.id}`);
    expect(running.body).toMatchObject({ state: 'running', reason: 'started', output: null });

    const report = { lease: task.lease, kind: 'succeeded', output: { text: 'Hello, Ädä' } };
    expect((await api.report(sessionId, [report])).body).toEqual({ outcomes: ['ok'] });
    const view = await api.get(`/v1/tasks/${task.id}`);
    expect(view.status).toBe(200);
    expect(view.body).toMatchObject({
      id: task.id,
      type,
      state: 'succeeded',
      priority: 4,
      attempt: 1,
      attempts: [{ attempt: 1, worker: 'test-worker', outcome: 'succeeded' }],
      input: { name: 'Ädä' },
      output: { text: 'Hello, Ädä' },
      error: null,
    });
  });

  test('the same report again is a duplicate and changes nothing', async () => {
    await api.post('/v1/tasks', { type: freshType() });
    const session = openSession();
    const { sessionId } = await session.welcomed();
    const { id, lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, kind: 'succeeded', output: 1 }]);

    const again = await api.report(sessionId, [{ lease, kind: 'succeeded', output: 2 }]);

    expect(again.body).toEqual({ outcomes: ['duplicate'] });
    expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ output: 1 });
  });

  test('a failed task has the error that its worker reported', async () => {
    await api.post('/v1/tasks', { type: freshType() });
    const session = openSession();
    const { sessionId } = await session.welcomed();
    const { id, lease } = await session.takeTask();

    const error = { message: 'no such file', code: 'ENOENT' };
    await api.report(sessionId, [{ lease, kind: 'failed', error, retryable: false }]);

    const view = await api.get(`/v1/tasks/${id}`);
    expect(view.body).toMatchObject({ state: 'failed', reason: 'failed', error, output: null });
  });

  test('a task that fails is pushed again, with its last error to be read meanwhile', async () => {
    const retry = { backoff: 'fixed', delayMs: 50, jitter: false };
    await api.post('/v1/tasks', { type: freshType(), retry });
    const session = openSession();
    const { sessionId } = await session.welcomed();
    const first = await session.takeTask();

    await api.report(sessionId, [{ lease: first.lease, kind: 'failed', error: { message: 'no' } }]);

    const second = await session.takeTask();
    expect(second).toMatchObject({ id: first.id, attempt: 2 });
    expect(second.lease).not.toBe(first.lease);
    const view = await api.get(`/v1/tasks/${first.id}`);
    expect(view.body).toMatchObject({ state: 'leased', attempt: 2, error: { message: 'no' } });
    await api.report(sessionId, [{ lease: second.lease, kind: 'succeeded', output: 1 }]);
    const ended = await api.get(`/v1/tasks/${first.id}`);
    expect(ended.body).toMatchObject({ state: 'succeeded', error: null, output: 1 });
  });

  test('a submit that is sent again is the same task, another input is refused', async () => {
    const task = { type: freshType(), input: { b: 1, a: [{ d: 1, c: 2 }] }, dedupeKey: 'k' };
    const first = await api.post('/v1/tasks', task);
    expect(first).toMatchObject({ status: 201, body: { deduplicated: false } });

    const reordered = { dedupeKey: 'k', input: { a: [{ c: 2, d: 1 }], b: 1 }, type };
    const changed = { dedupeWindowMs: 5000, priority: 8, retry: { maxAttempts: 9 } };
    const again = await api.post('/v1/tasks', { ...reordered, ...changed });
    expect(again).toEqual({
      status: 200,
      body: { id: first.body.id, state: 'queued', deduplicated: true },
    });

    const other = await api.post('/v1/tasks', [{ type }, { ...task, input: 1 }]);
    expect(other.status).toBe(409);
    const by = `by task ${first.body.id}, which is queued`;
    expect(other.body.error).toMatchObject({
      code: 'dedupe_mismatch',
      details: [{ path: '/1/dedupeKey', problem: `"k" was used with another input ${by}` }],
    });
    const elsewhere = await api.post('/v1/tasks', { ...task, type: `${type}-b`, input: 1 });
    expect(elsewhere.body.deduplicated).toBe(false);
  });

  test('a submit says what happens to the task that has its key', async () => {
    const task = { type: freshType(), input: 'old', dedupeKey: 'k', delayMs: 60_000 };
    const { body: first } = await api.post('/v1/tasks', task);

    const existing = { ...task, input: 'new', onDuplicate: 'existing' };
    const found = await api.post('/v1/tasks', existing);
    expect(found.body).toMatchObject({ id: first.id, deduplicated: true });
    expect((await api.get(`/v1/tasks/${first.id}`)).body.input).toBe('old');

    const runAt = '2100-01-01T00:00:00.000Z';
    const { delayMs: _, ...undated } = task;
    const replace = { ...undated, input: 'new', runAt, priority: 7, onDuplicate: 'replace' };
    const replaced = await api.post('/v1/tasks', replace);
    expect(replaced.body).toMatchObject({ id: first.id, state: 'waiting', deduplicated: true });
    const view = await api.get(`/v1/tasks/${first.id}`);
    expect(view.body).toMatchObject({ input: 'new', runAt, priority: 7 });

    const refused = await api.post('/v1/tasks', { type, onDuplicate: 'replace' });
    expect(refused.body.error.details).toEqual([
      { path: '/onDuplicate', problem: 'needs a dedupeKey' },
    ]);
  });

  test('the answer to a replacement says that the task went to a worker at once', async () => {
    const task = { type: freshType(), dedupeKey: 'k', delayMs: 60_000 };
    const { body: first } = await api.post('/v1/tasks', task);
    const session = openSession();
    await session.welcomed();
    const { delayMs: _, ...undated } = task;

    const replaced = await api.post('/v1/tasks', { ...undated, onDuplicate: 'replace' });

    expect(replaced.body).toEqual({ id: first.id, state: 'leased', deduplicated: true });
    expect((await session.takeTask()).id).toBe(first.id);
  });

  test('a delayed task says when it will run, and is not pushed before', async () => {
    const { body } = await api.post('/v1/tasks', { type: freshType(), delayMs: 150 });
    const { body: later } = await api.post('/v1/tasks', { type, runAt: '2100-01-01T00:00:00Z' });
    expect([body.state, later.state]).toEqual(['waiting', 'waiting']);
    const waiting = await api.get(`/v1/tasks/${later.id}`);
    expect(waiting.body).toMatchObject({ reason: 'delayed', runAt: '2100-01-01T00:00:00.000Z' });

    const session = openSession();
    const { id } = await session.takeTask();

    expect(id).toBe(body.id);
    const { submittedAt, attempts } = (await api.get(`/v1/tasks/${id}`)).body;
    expect(Date.parse(attempts[0].leasedAt) - Date.parse(submittedAt)).toBeGreaterThanOrEqual(150);
    expect(session.waitingTasks).toBe(0);
  });

  test('an array is answered in order and pushed by priority', async () => {
    freshType();
    const priorities = [0, 8, 4, 8];
    const submitted = await api.post(
      '/v1/tasks',
      priorities.map((priority, index) => ({ type, priority, input: index })),
    );
    expect(submitted.status).toBe(201);
    expect(submitted.body.items).toHaveLength(4);

    const session = openSession({ capacity: { slots: 1 } });
    const { sessionId } = await session.welcomed();
    const order: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const task = await session.takeTask();
      expect(session.waitingTasks).toBe(0);
      order.push(task.input);
      await api.report(sessionId, [{ lease: task.lease, kind: 'succeeded' }]);
    }

    expect(order).toEqual([1, 3, 2, 0]);
  });

  test('a submit that waits answers with the finished task', async () => {
    freshType();
    const session = openSession();
    const { sessionId } = await session.welcomed();
    const waited = api.post('/v1/tasks?waitMs=60000', { type, input: [1] });
    const { lease } = await session.takeTask();

    await api.report(sessionId, [{ lease, kind: 'succeeded', output: 'done' }]);

    expect(await waited).toMatchObject({
      status: 201,
      body: { state: 'succeeded', input: [1], output: 'done' },
    });
  });

  test('waiting answers when the task ends, and with its state when the time is up', async () => {
    const { body } = await api.post('/v1/tasks', { type: freshType() });
    const early = await api.get(`/v1/tasks/${body.id}/wait?timeoutMs=0`);
    expect(early.body).toMatchObject({ state: 'queued' });

    const waited = api.get(`/v1/tasks/${body.id}/wait`);
    const session = openSession();
    const { sessionId } = await session.welcomed();
    const { lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, kind: 'succeeded' }]);

    expect((await waited).body).toMatchObject({ id: body.id, state: 'succeeded' });
  });

  test('a broken stream loses nothing: the session comes back and keeps its lease', async () => {
    await api.post('/v1/tasks', { type: freshType() });
    const first = openSession();
    const { sessionId } = await first.welcomed();
    const { id, lease } = await first.takeTask();
    first.disconnect();

    const second = openSession({ resume: { sessionId, running: [lease] } });
    expect(await second.welcomed()).toMatchObject({ sessionId, resumed: true, lost: [] });

    expect((await api.report(sessionId, [{ lease, kind: 'succeeded' }])).body).toEqual({
      outcomes: ['ok'],
    });
    expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ attempt: 1 });
    expect(second.waitingTasks).toBe(0);
  });

  test('a second stream of a session displaces the first', async () => {
    freshType();
    const first = openSession();
    const { sessionId } = await first.welcomed();

    const second = openSession({ resume: { sessionId, running: [] } });

    expect(await second.welcomed()).toMatchObject({ sessionId, resumed: true });
    await first.closed;
  });

  test('a session that is closed hands back what it holds at once', async () => {
    await api.post('/v1/tasks', { type: freshType() });
    const first = openSession();
    const { sessionId } = await first.welcomed();
    const held = await first.takeTask();

    expect((await api.delete(`/v1/worker-sessions/${sessionId}`)).status).toBe(204);

    await first.closed;
    const second = openSession();
    await second.welcomed();
    expect(await second.takeTask()).toMatchObject({ id: held.id, attempt: 1 });
    const late = await api.report(sessionId, [{ lease: held.lease, kind: 'succeeded' }]);
    expect(late.body).toEqual({ outcomes: ['stale_lease'] });
    expect((await api.delete(`/v1/worker-sessions/${sessionId}`)).body.error.code).toBe(
      'session_not_found',
    );
  });

  test('an unknown session that only heartbeats is told to open a new one', async () => {
    const answer = await api.post('/v1/worker-sessions/s_AAAAAAAAAAAAAAAAAAAAAAAA/reports');

    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('session_not_found');
  });

  test('a backlog that is larger than a socket holds reaches its worker whole', async () => {
    freshType();
    const input = 'x'.repeat(255 * 1024);
    for (let i = 0; i < 8; i++) {
      await api.post('/v1/tasks', Array(12).fill({ type, input }));
    }
    const session = openSession({ capacity: { slots: 1000 } });

    const attempts: number[] = [];
    for (let i = 0; i < 96; i++) attempts.push((await session.takeTask()).attempt);

    expect(attempts).toEqual(Array(96).fill(1));
  });

  test('a payload of 256 KiB passes through unchanged, one byte more is refused', async () => {
    freshType();
    const text = 'ü'.repeat(131_071);
    const { body } = await api.post('/v1/tasks', { type, input: text });
    const session = openSession();
    await session.welcomed();

    expect((await session.takeTask()).input).toBe(text);
    expect((await api.get(`/v1/tasks/${body.id}`)).body.input).toBe(text);
    const refused = await api.post('/v1/tasks', [{ type }, { type, input: `${text}u` }]);
    expect(refused.status).toBe(413);
    expect(refused.body.error).toMatchObject({
      code: 'payload_too_large',
      details: [{ path: '/1/input' }],
    });
  });
});
