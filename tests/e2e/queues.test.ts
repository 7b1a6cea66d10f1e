import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { SessionRequest } from '../support/worker-client.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const sessions: SessionUnderTest[] = [];
const SECRET = `whsec_${'hush'.repeat(8)}`;

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

function openSession(request: Partial<SessionRequest>): SessionUnderTest {
  const session = new SessionUnderTest(server.url, 'http1', request);
  sessions.push(session);
  return session;
}

async function queueOf(type: string) {
  const { body } = await api.get('/v1/queues?limit=1000');
  return body.items.find((each: { type: string }) => each.type === type);
}

describe('queues', () => {
  test('show how deep they are, who works on them and how fast', async () => {
    await api.post('/v1/tasks', [
      { type: 'deep', priority: 8 },
      { type: 'deep' },
      { type: 'deep' },
    ]);
    expect(await queueOf('deep')).toMatchObject({
      paused: false,
      depth: 3,
      depthByPriority: [0, 0, 0, 0, 2, 0, 0, 0, 1],
      oldestAgeMs: expect.any(Number),
      leased: 0,
      workers: 0,
      deadLetters: 0,
      inPerSec: expect.any(Number),
    });
    expect((await queueOf('deep')).inPerSec).toBeGreaterThan(0);

    const session = openSession({ types: [{ type: 'deep' }], capacity: { slots: 2 } });
    await session.takeTask();
    await session.takeTask();

    expect(await queueOf('deep')).toMatchObject({ depth: 1, leased: 2, workers: 1 });
  });

  test('a paused one gives nothing out until it is resumed, also after a restart', async () => {
    const type = 'rests';
    expect((await api.patch(`/v1/queues/${type}`, { paused: true })).body).toMatchObject({
      type,
      paused: true,
    });
    const { body } = await api.post('/v1/tasks', { type });
    await server.kill();
    server = await ServerProcess.startDev(folder);
    api.close();
    api = new ApiClient(server.url, 'http1');
    const session = openSession({ types: [{ type }] });
    await session.welcomed();

    const explained = await api.get(`/v1/tasks/${body.id}/explain`);
    expect(explained.body.reasons).toContainEqual({
      code: 'queue_paused',
      message: expect.any(String),
    });
    expect(session.waitingTasks).toBe(0);

    await api.patch(`/v1/queues/${type}`, { paused: false });
    expect(await session.takeTask()).toMatchObject({ id: body.id });
  });

  test('a name that is no task type is refused', async () => {
    const { status, body } = await api.patch('/v1/queues/not%20a%20type', { paused: true });
    expect([status, body.error.details[0].path]).toEqual([400, '/type']);
  });
});

test.each([
  ['/v1/queues', (n: number) => api.patch(`/v1/queues/paged-${n}`, { paused: true })],
  ['/v1/task-types', (n: number) => api.put(`/v1/task-types/paged-${n}`, { priority: n })],
])('%s is listed page by page', async (path, make) => {
  for (let n = 0; n < 5; n++) await make(n);
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await api.get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(body).toMatchObject({ asOf: expect.stringMatching(/Z$/), lagMs: 0 });
    expect(body.items.length).toBeLessThanOrEqual(2);
    found.push(...body.items.map(({ type }: { type: string }) => type));
    cursor = body.nextCursor;
  }

  expect(found).toEqual(found.toSorted());
  expect(found.filter((type) => type.startsWith('paged-'))).toHaveLength(5);
  expect((await api.get(`${path}?limit=0`)).body.error.details[0].path).toBe('/limit');
});

describe('task types', () => {
  test('a definition is what tasks have that do not say, until it is deleted', async () => {
    const path = '/v1/task-types/defined';
    const definition = { priority: 7, retry: { maxAttempts: 9 }, tags: { team: 'db' } };
    expect(await api.put(path, definition)).toMatchObject({
      status: 201,
      body: { type: 'defined', definition },
    });
    expect((await api.put(path, definition)).status).toBe(200);
    expect((await api.get(path)).body).toEqual({ type: 'defined', definition });
    expect((await api.get('/v1/task-types')).body.items).toContainEqual({
      type: 'defined',
      definition,
    });

    const { body } = await api.post('/v1/tasks', { type: 'defined', priority: 2 });
    expect((await api.get(`/v1/tasks/${body.id}`)).body).toMatchObject({
      priority: 2,
      retry: { maxAttempts: 9 },
      tags: { team: 'db' },
    });

    expect((await api.delete(path)).status).toBe(204);
    expect((await api.delete(path)).body.error.code).toBe('task_type_not_found');
    expect((await api.get(path)).body.error.code).toBe('task_type_not_found');
  });

  test('mistakes are named, and the secret of a callback is not read back', async () => {
    const path = '/v1/task-types/wrong';
    const bad = await api.put(path, { retry: { delaysMs: [1], maxAttempts: 2 }, colour: 1 });
    expect(bad.body.error.details.map((each: { path: string }) => each.path)).toEqual(['/colour']);
    const both = await api.put(path, { retry: { delaysMs: [1], maxAttempts: 2 } });
    expect(both.body.error.details[0].path).toBe('/retry/maxAttempts');

    const callback = { url: 'https://example.com/x', on: ['failed'] };
    const { body } = await api.put(path, { callback: { ...callback, secret: SECRET } });
    expect(body.definition.callback).toEqual(callback);
  });
});

describe('dead letters', () => {
  async function failSome(type: string, count: number): Promise<string[]> {
    const task = { type, retry: { maxAttempts: 1 } };
    const { body } = await api.post('/v1/tasks', Array(count).fill(task));
    const ids = body.items.map(({ id }: { id: string }) => id);
    const error = { message: 'no' };
    await Promise.all(ids.map((id: string) => api.post(`/v1/tasks/${id}/fail`, { error })));
    return ids;
  }

  async function dead(type: string): Promise<string[]> {
    const { body } = await api.get(`/v1/dead-letters?type=${type}`);
    return body.items.map(({ id }: { id: string }) => id);
  }

  test('are listed in pages, and run again at a rate that survives a restart', async () => {
    const type = 'dies';
    const ids = await failSome(type, 5);
    const first = await api.get(`/v1/dead-letters?type=${type}&limit=3`);
    const rest = await api.get(
      `/v1/dead-letters?type=${type}&limit=3&cursor=${first.body.nextCursor}`,
    );
    const listed = [...first.body.items, ...rest.body.items].map(({ id }) => id);
    expect(listed.sort()).toEqual(ids.sort());
    expect(rest.body.nextCursor).toBe(null);

    const { status, body } = await api.post('/v1/dead-letters/redrive', {
      filter: { type },
      ratePerSec: 0.001,
    });
    expect([status, body.count]).toEqual([202, 5]);
    await server.kill();
    server = await ServerProcess.startDev(folder);
    api.close();
    api = new ApiClient(server.url, 'http1');
    const redrives = await api.get('/v1/dead-letters/redrives');
    expect(redrives.body.items).toMatchObject([{ id: body.id, type, ratePerSec: 0.001 }]);
    expect((await api.delete(`/v1/dead-letters/redrives/${body.id}`)).status).toBe(204);
    const again = await api.delete(`/v1/dead-letters/redrives/${body.id}`);
    expect(again.body.error.code).toBe('redrive_not_found');

    await api.post('/v1/dead-letters/redrive', { filter: { type }, ratePerSec: 1000 });
    await waitUntil(async () => (await dead(type)).length === 0, {
      what: 'all of them ran again',
      timeoutMs: 10_000,
    });
    expect(await queueOf(type)).toMatchObject({ depth: 5, deadLetters: 0 });
  });

  test('are discarded, and stay failed', async () => {
    const [id] = await failSome('discarded', 2);

    const { body } = await api.post('/v1/dead-letters/discard', { filter: { type: 'discarded' } });

    expect(body).toEqual({ matched: 2, discarded: 2, dryRun: false });
    expect(await dead('discarded')).toEqual([]);
    expect((await api.get(`/v1/tasks/${id}`)).body.state).toBe('failed');
  });
});

describe('workers', () => {
  test('are listed with what they offer and hold, and never by their secret', async () => {
    await api.post('/v1/tasks', { type: 'listed', resources: { cpu: 0.5 } });
    const session = openSession({
      name: 'a-worker',
      types: [{ type: 'listed', concurrency: 3 }],
      capacity: { slots: 4, cpu: 2 },
      labels: { zone: 'eu' },
    });
    await session.takeTask();
    const { sessionId } = await session.welcomed();

    const { body } = await api.get('/v1/workers');

    expect(JSON.stringify(body)).not.toContain(sessionId);
    const worker = body.items.find((each: { name: string }) => each.name === 'a-worker');
    expect(worker).toMatchObject({
      id: expect.stringMatching(/^w_/),
      types: [{ type: 'listed', concurrency: 3, leased: 1 }],
      labels: { zone: 'eu' },
      capacity: { slots: 4, cpu: 2 },
      used: { slots: 1, cpu: 0.5 },
      connected: true,
      draining: false,
    });
  });

  test('one that drains keeps what it holds and gets nothing more', async () => {
    const type = 'drained';
    await api.post('/v1/tasks', { type });
    const session = openSession({ name: 'b-worker', types: [{ type }] });
    await session.takeTask();
    const { body } = await api.get('/v1/workers');
    const { id } = body.items.find((each: { name: string }) => each.name === 'b-worker');

    expect((await api.post(`/v1/workers/${id}/drain`)).body).toMatchObject({ draining: true });

    const next = await api.post('/v1/tasks', { type });
    const explained = await api.get(`/v1/tasks/${next.body.id}/explain`);
    expect(explained.body.reasons[0]).toMatchObject({ code: 'draining', worker: 'b-worker' });
    const unknown = await api.post('/v1/workers/w_no/drain');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'worker_not_found']);
  });

  test('are shown in pages', async () => {
    for (const name of ['p-1', 'p-2', 'p-3']) await openSession({ name }).welcomed();
    const first = await api.get('/v1/workers?limit=2');
    const names: string[] = [];
    let page = first.body;
    for (;;) {
      names.push(...page.items.map(({ name }: { name: string }) => name));
      if (page.nextCursor === null) break;
      page = (await api.get(`/v1/workers?limit=2&cursor=${page.nextCursor}`)).body;
    }

    expect(names.filter((name) => name.startsWith('p-'))).toEqual(['p-1', 'p-2', 'p-3']);
  });
});
