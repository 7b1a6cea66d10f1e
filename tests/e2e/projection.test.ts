import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const PARENT = 't_01k7f6b1oj0000000001';

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

/** At most two finished tasks are kept in memory. */
async function start(): Promise<void> {
  server = await ServerProcess.startServer(folder, '--limits-finished-tasks-max', '2');
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1');
  ({ sessionId } = await session.welcomed());
}

async function kill(): Promise<void> {
  session.disconnect();
  api.close();
  await server.kill();
}

async function submit(task: object = {}): Promise<string> {
  const { status, body } = await api.post('/v1/tasks', { type: 'hello', ...task });
  expect(status).toBe(201);
  return body.id;
}

async function answer(report: object): Promise<void> {
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, ...report }]);
}

async function finish(count: number, task: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push(await submit({ input: { n }, ...task }));
    await answer({ kind: 'succeeded', output: n });
  }
  return ids;
}

async function listed(query = ''): Promise<string[]> {
  const { body } = await api.get(`/v1/tasks?${query}`);
  return body.items.map(({ id }: { id: string }) => id);
}

/** Waits until a finished task is only in files, because later ones took its place in memory. */
async function hasLeftMemory(id: string): Promise<void> {
  await finish(4);
  const isGone = async () => {
    await finish(1);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^sluice_tasks_finished (\d+)$/m.exec(metrics)?.[1]) <= 4;
  };
  await waitUntil(isGone, { what: `${id} has left memory`, timeoutMs: 20_000 });
}

describe('history', () => {
  test('has every change of a task, and the task has all its attempts', async () => {
    const id = await submit({ retry: { delaysMs: [0] } });
    await answer({ kind: 'failed', error: { message: 'no' } });
    await answer({ kind: 'succeeded', output: 'yes' });

    const { body: history } = await api.get(`/v1/tasks/${id}/history`);
    const { body: task } = await api.get(`/v1/tasks/${id}`);

    const changes = history.items.map(({ from, to, reason, attempt, worker }: never) =>
      [from, to, reason, attempt, worker].join(' '),
    );
    expect(changes).toEqual([
      ' queued submitted 0 ',
      'queued leased leased 1 test-worker',
      'leased waiting backoff 1 test-worker',
      'waiting queued due 1 ',
      'queued leased leased 2 test-worker',
      'leased succeeded succeeded 2 test-worker',
    ]);
    expect(task.attempts).toMatchObject([
      { attempt: 1, outcome: 'failed', error: { message: 'no' }, worker: 'test-worker' },
      { attempt: 2, outcome: 'succeeded' },
    ]);
  });

  test('of a task that nobody knows is 404', async () => {
    for (const id of ['t_1', 't_01k7f6b1oj0000000001']) {
      const { status, body } = await api.get(`/v1/tasks/${id}/history`);
      expect([status, body.error.code]).toEqual([404, 'task_not_found']);
    }
  });
});

test('what left memory is read, waited for and found as before, also after a kill', async () => {
  const [first] = await finish(1, { tags: { team: 'a' }, parentId: PARENT });
  const { body: before } = await api.get(`/v1/tasks/${first}`);
  await hasLeftMemory(first);

  for (const moment of ['before', 'after']) {
    expect((await api.get(`/v1/tasks/${first}`)).body, moment).toEqual(before);
    expect((await api.get(`/v1/tasks/${first}/wait?timeoutMs=60000`)).body).toEqual(before);
    const many = await api.post('/v1/tasks/get', { ids: [first, 't_1'] });
    expect(many.body).toEqual({ items: [before], unknown: ['t_1'], notIncluded: [] });
    const waited = await api.post('/v1/tasks/wait', { ids: [first], timeoutMs: 60_000 });
    expect(waited.body).toEqual({ items: [before], unknown: [] });
    expect(await listed('tag.team=a')).toEqual([first]);
    expect(await listed(`parent=${PARENT}&state=succeeded&type=hello`)).toEqual([first]);
    if (moment === 'before') {
      await kill();
      await start();
    }
  }
});

test('the lines of a task that left memory are read, and followed to their end', async () => {
  const id = await submit();
  const { lease } = await session.takeTask();
  await api.report(sessionId, [
    { lease, kind: 'log', seq: 1, lines: ['one'] },
    { lease, kind: 'succeeded', output: 1 },
  ]);
  await hasLeftMemory(id);

  expect((await api.get(`/v1/tasks/${id}/logs`)).body.items).toMatchObject([{ line: 'one' }]);
  const followed = await fetch(`${server.url}/v1/tasks/${id}/logs?follow=true`);
  expect(await followed.text()).toContain('event: end');
});

test('a task that left memory runs again, with its history', async () => {
  const id = await submit({ input: { n: 1 }, retry: { maxAttempts: 1 }, tags: { team: 'b' } });
  await answer({ kind: 'failed', error: { message: 'no' } });
  await api.post('/v1/dead-letters/discard', { filter: { type: 'hello' } });
  await hasLeftMemory(id);

  const { status, body } = await api.post(`/v1/tasks/${id}/retry`);
  expect([status, body.state, body.tags]).toEqual([200, 'leased', { team: 'b' }]);
  const { input } = await session.takeTask();

  expect(input).toEqual({ n: 1 });
  const { body: history } = await api.get(`/v1/tasks/${id}/history`);
  const reasons = history.items.map(({ reason }: { reason: string }) => reason);
  expect(reasons).toEqual(expect.arrayContaining(['submitted', 'failed', 'retried', 'leased']));
  const [done] = await finish(1);
  await hasLeftMemory(done);
  expect((await api.post(`/v1/tasks/${done}/retry`)).body.error.code).toBe('task_finished');
});

test('what may not be done to a finished task is refused alike after it left memory', async () => {
  const [id] = await finish(1);
  const cancelled = await submit({ type: 'other' });
  await api.post(`/v1/tasks/${cancelled}/cancel`);
  const requests = [
    ['cancel', {}, 409, 'task_finished'],
    ['pause', {}, 409, 'task_finished'],
    ['resume', {}, 409, 'task_finished'],
    ['complete', { output: 1 }, 409, 'task_finished'],
    ['fail', { error: { message: 'no' } }, 409, 'task_finished'],
    ['signal', { name: 'x' }, 409, 'task_not_leased'],
    ['retry', {}, 409, 'task_finished'],
  ] as const;
  const outcomes = async () => {
    const all: unknown[] = [];
    for (const [operation, body] of requests) {
      const { status, body: answer } = await api.post(`/v1/tasks/${id}/${operation}`, body);
      all.push([operation, body, status, answer.error.code]);
    }
    const patched = await api.patch(`/v1/tasks/${id}`, { priority: 1 });
    const patches = await api.patch('/v1/tasks', [{ id, priority: 1 }]);
    const cancels = await api.post('/v1/tasks/cancel', { ids: [id, cancelled, PARENT] });
    const again = await api.post(`/v1/tasks/${cancelled}/cancel`);
    const explained = await api.get(`/v1/tasks/${id}/explain`);
    return { all, patched, patches, cancels, again, explained };
  };
  const before = withoutIds(await outcomes());
  await hasLeftMemory(cancelled);

  const after = await outcomes();

  expect(after.all).toEqual(requests);
  expect(after.again.status).toBe(200);
  expect(after.again.body.state).toBe('cancelled');
  expect(after.explained.body).toMatchObject({ running: false, reasons: [{ code: 'finished' }] });
  expect(withoutIds(after)).toEqual(before);
});

/** Answers without the parts that always differ. */
function withoutIds(answers: object): unknown {
  return JSON.parse(JSON.stringify(answers, (key, value) => (key === 'requestId' ? '' : value)));
}

test('of two retries at once of a task that left memory one is refused, as in memory', async () => {
  const id = await submit({ type: 'other' });
  await api.post(`/v1/tasks/${id}/cancel`);
  await hasLeftMemory(id);

  const answers = await Promise.all([1, 2].map(() => api.post(`/v1/tasks/${id}/retry`)));

  const outcomes = answers.map(({ status, body }) => [status, body.error?.code ?? body.state]);
  expect(outcomes.sort()).toEqual([
    [200, 'queued'],
    [409, 'task_not_finished'],
  ]);
});

test('dead letters are counted by what went wrong, until somebody deals with them', async () => {
  for (const message of ['host 1 is down', 'host 2 is down', 'disk full']) {
    await submit({ retry: { maxAttempts: 1 } });
    await answer({ kind: 'failed', error: { message } });
  }
  const groups = async (query = '') => {
    const { body } = await api.get(`/v1/dead-letters/groups${query}`);
    return body.items.map(({ count, message }: { count: number; message: string }) => {
      return `${count} ${message}`;
    });
  };

  expect(await groups()).toEqual(['2 host 2 is down', '1 disk full']);
  expect(await groups('?type=hello')).toHaveLength(2);
  expect(await groups('?type=other')).toEqual([]);
  await kill();
  await start();
  expect(await groups()).toEqual(['2 host 2 is down', '1 disk full']);
  await api.post('/v1/dead-letters/discard', {});
  expect(await groups()).toEqual([]);
});

test('a search finds by state, type, text and time, over pages', async () => {
  const startedAt = new Date().toISOString();
  const done = await finish(5);
  const open = await submit({ type: 'other', input: { text: 'needle' } });

  expect(await listed()).toEqual([open, ...done.toReversed()]);
  expect(await listed('state=succeeded&limit=2')).toEqual(done.toReversed().slice(0, 2));
  expect(await listed('type=other')).toEqual([open]);
  expect(await listed('q=needle')).toEqual([open]);
  expect(await listed('state=failed')).toEqual([]);
  expect(await listed(`since=${startedAt}`)).toHaveLength(6);
  expect(await listed(`until=${startedAt}`)).toEqual([]);
  const { body: page } = await api.get('/v1/tasks?limit=4');
  const { body: next } = await api.get(`/v1/tasks?limit=4&cursor=${page.nextCursor}`);
  expect(next.items.map(({ id }: { id: string }) => id)).toEqual(done.slice(0, 2).toReversed());
  expect(next.nextCursor).toBeNull();
});

test('a day that cannot be read is set aside and said so, and all else goes on', async () => {
  const [lost] = await finish(1);
  await hasLeftMemory(lost);
  await kill();
  const days = join(folder, 'projection', 'days');
  const [name] = (await readdir(days)).filter((each) => /^\d{4}-\d\d-\d\d\.sqlite$/.test(each));
  for (const file of [name, `${name}-wal`]) await writeFile(join(days, file), 'x'.repeat(20_000));

  await start();
  const [found] = await finish(1);

  expect(server.lastOutput).toContain(
    'a day file of finished tasks is unreadable and was set aside',
  );
  expect((await api.get(`/v1/tasks/${lost}`)).status).toBe(404);
  expect(await listed('limit=1')).toEqual([found]);
  expect(await readdir(days)).toContain(`${name}.corrupt`);
});
