import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const sessions: SessionUnderTest[] = [];
/** Each test has a separate task type, so that tests do not take each other's tasks. */
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

function openSession(request: object = {}): SessionUnderTest {
  const session = new SessionUnderTest(server.url, 'http1', { types: [{ type }], ...request });
  sessions.push(session);
  return session;
}

function freshType(): string {
  count += 1;
  type = `resources-${count}`;
  return type;
}

test('a task goes to the worker that has what it needs, and shows it everywhere', async () => {
  freshType();
  const small = openSession({ capacity: { cpu: 1 }, labels: { zone: 'eu' } });
  const far = openSession({ capacity: { cpu: 8 }, labels: { zone: 'us' } });
  const right = openSession({ capacity: { cpu: 8, gpu: 1 }, labels: { zone: 'eu' }, version: '2' });
  for (const session of [small, far, right]) await session.welcomed();
  const resources = { cpu: 2.5, gpu: 1, custom: {} };

  const { body } = await api.post('/v1/tasks', { type, resources, constraints: ['zone==eu'] });

  const task = await right.takeTask();
  const shown = await api.get(`/v1/tasks/${body.id}`);
  expect(task).toMatchObject({ id: body.id, resources: { cpu: 2.5, gpu: 1, slots: 1 } });
  expect(shown.body).toMatchObject({
    state: 'leased',
    resources: { cpu: 2.5, gpu: 1, slots: 1 },
    constraints: ['zone == eu'],
  });
  expect([small.waitingTasks, far.waitingTasks]).toEqual([0, 0]);
});

test('a report with a capacity makes room at once, and types have their own limit', async () => {
  freshType();
  const session = openSession({ types: [{ type, concurrency: 2 }], capacity: { memoryMb: 10 } });
  const { sessionId } = await session.welcomed();
  await api.post(
    '/v1/tasks',
    [1, 2, 3].map((input) => ({ type, input, resources: { memoryMb: 100 } })),
  );

  const answer = await api.post(`/v1/worker-sessions/${sessionId}/reports`, {
    capacity: { memoryMb: 1000 },
  });

  expect(answer).toEqual({ status: 200, body: { outcomes: [] } });
  expect([(await session.takeTask()).input, (await session.takeTask()).input]).toEqual([1, 2]);
  expect(session.waitingTasks).toBe(0);
});

test('what a worker measures of itself is shown with the worker', async () => {
  freshType();
  const name = `measured-${count}`;
  const session = openSession({ name, capacity: { slots: 4 } });
  const { sessionId } = await session.welcomed();
  const shown = async () => {
    const { body } = await api.get('/v1/workers');
    return body.items.find((each: { name: string }) => each.name === name);
  };
  expect((await shown()).measured).toBeUndefined();

  await api.post(`/v1/worker-sessions/${sessionId}/reports`, {
    measured: { cpu: 1.25, memoryMb: 300, slots: 2 },
  });

  const at = expect.stringMatching(/^2/);
  expect((await shown()).measured).toEqual({ cpu: 1.25, memoryMb: 300, slots: 2, at });
});

test('a refused task costs no attempt and comes back to a lone worker', async () => {
  freshType();
  const session = openSession();
  const { sessionId } = await session.welcomed();
  const { body } = await api.post('/v1/tasks', { type });
  const { lease } = await session.takeTask();

  const reports = [{ lease, kind: 'refused' }];
  const refused = await api.report(sessionId, reports);
  const again = await api.report(sessionId, reports);
  const shown = await api.get(`/v1/tasks/${body.id}`);
  const second = await session.takeTask();

  expect([refused.body.outcomes, again.body.outcomes]).toEqual([['ok'], ['duplicate']]);
  expect(shown.body).toMatchObject({
    state: 'queued',
    reason: 'refused',
    attempt: 0,
    attempts: [],
  });
  expect(second).toMatchObject({ id: body.id, attempt: 1 });
});

const TASKS = '/v1/tasks';
const SESSIONS = '/v1/worker-sessions';
const REPORTS = '/v1/worker-sessions/s_AAAAAAAAAAAAAAAAAAAAAAAA/reports';

test.each([
  [TASKS, { resources: { cpu: -1 } }, '/resources/cpu'],
  [TASKS, { resources: { cpu: 0.0001 } }, '/resources/cpu'],
  [TASKS, { resources: { cpu: '1' } }, '/resources/cpu'],
  [TASKS, { resources: { memoryMb: 1.5 } }, '/resources/memoryMb'],
  [TASKS, { resources: { gpu: 1e9 } }, '/resources/gpu'],
  [TASKS, { resources: { slots: 0 } }, '/resources/slots'],
  [TASKS, { resources: { ram: 1 } }, '/resources/ram'],
  [TASKS, { resources: { custom: { 'a b': 1 } } }, '/resources/custom/a b'],
  [TASKS, { resources: { custom: { __proto__x: 1 } } }, '/resources/custom/__proto__x'],
  [TASKS, { resources: { custom: { licence: 1 / 3 } } }, '/resources/custom/licence'],
  [TASKS, { constraints: 'zone == eu' }, '/constraints'],
  [TASKS, { constraints: ['zone == eu', 'zone = eu'] }, '/constraints/1'],
  [TASKS, { constraints: Array(33).fill('exists a') }, '/constraints'],
  [SESSIONS, { capacity: { cpu: 1.2345 } }, '/capacity/cpu'],
  [SESSIONS, { capacity: { slots: -1 } }, '/capacity/slots'],
  [SESSIONS, { capacity: { disk: 1 } }, '/capacity/disk'],
  [SESSIONS, { labels: { zone: 5 } }, '/labels/zone'],
  [SESSIONS, { labels: { 'zone!': 'eu' } }, '/labels/zone!'],
  [SESSIONS, { labels: { 'a/b': 'x,y' } }, '/labels/a~1b'],
  [SESSIONS, { types: [{ type: 'a', concurrency: 0 }] }, '/types/0/concurrency'],
  [SESSIONS, { version: 5 }, '/version'],
  [REPORTS, { capacity: 5 }, '/capacity'],
  [REPORTS, { capacity: { cpu: 1.2345 } }, '/capacity/cpu'],
  [REPORTS, { capacity: { slots: -1 } }, '/capacity/slots'],
  [REPORTS, { measured: { cpu: -1 } }, '/measured/cpu'],
  [REPORTS, { measured: { disk: 1 } }, '/measured/disk'],
  [REPORTS, { reports: [{ kind: 'refused', lease: 'l_', why: 1 }] }, '/reports/0/why'],
])('%s refuses %j by name', async (path, fields, pointer) => {
  const base = path === REPORTS ? {} : { type: 'a' };
  const session = { name: 'w', types: [{ type: 'a' }] };

  const answer = await api.post(path, { ...(path === SESSIONS ? session : base), ...fields });

  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe('invalid_request');
  expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toContain(
    pointer,
  );
});
