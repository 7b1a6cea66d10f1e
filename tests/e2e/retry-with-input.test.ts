import { createHash } from 'node:crypto';
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

const BAD = { to: 'nobody' };
const GOOD = { to: 'ada@example.com' };

/** A dead letter; returns its id. */
async function failed(task: object = {}): Promise<string> {
  const request = { type: 'hello', input: BAD, retry: { maxAttempts: 1 }, ...task };
  const { body } = await api.post('/v1/tasks', request);
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'failed', error: { message: 'no such address' } }]);
  return body.id;
}

async function historyOf(id: string): Promise<{ reason: string; inputBefore?: unknown }[]> {
  return (await api.get(`/v1/tasks/${id}/history`)).body.items;
}

async function auditRecords(): Promise<object[]> {
  return (await api.get('/v1/audit')).body.items;
}

/** Uploads JSON; returns its hash. */
async function upload(value: unknown): Promise<string> {
  const text = JSON.stringify(value);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const answer = await fetch(`${server.url}/v1/blobs/${sha256}`, { method: 'PUT', body: text });
  expect(answer.ok).toBe(true);
  return sha256;
}

test('a dead letter runs again with another input; the old one is in the history', async () => {
  const id = await failed();

  const { status, body } = await api.post(`/v1/tasks/${id}/retry`, { input: GOOD });

  expect([status, body.input]).toEqual([200, GOOD]);
  expect(await session.takeTask()).toMatchObject({ id, attempt: 1, input: GOOD });
  const retried = (await historyOf(id)).find(({ reason }) => reason === 'retried');
  expect(retried).toMatchObject({ from: 'failed', to: 'queued', inputBefore: BAD });
  expect(await auditRecords()).toMatchObject([{ action: 'task_input_changed', subject: id }]);
});

test('a task that was retried shows the attempts before its retry', async () => {
  const id = await failed();
  await api.post(`/v1/tasks/${id}/retry`);
  const { lease } = await session.takeTask();

  const running = (await api.get(`/v1/tasks/${id}`)).body.attempts;
  await api.report(sessionId, [{ lease, kind: 'succeeded' }]);
  const done = (await api.get(`/v1/tasks/${id}`)).body.attempts;

  const first = { attempt: 1, outcome: 'failed', error: { message: 'no such address' } };
  expect(running).toMatchObject([first, { attempt: 1, outcome: null }]);
  expect(done).toMatchObject([first, { attempt: 1, outcome: 'succeeded' }]);
});

test('a plain retry is no change: nothing is audited, and no input is in the history', async () => {
  const id = await failed();

  await api.post(`/v1/tasks/${id}/retry`, {});

  expect(await session.takeTask()).toMatchObject({ id, input: BAD });
  expect((await historyOf(id)).filter((change) => 'inputBefore' in change)).toEqual([]);
  expect(await auditRecords()).toEqual([]);
});

test('every replaced input is in the history, also after a restart; null is one', async () => {
  const id = await failed();
  await api.post(`/v1/tasks/${id}/retry`, { input: null });
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'failed', error: { message: 'empty' } }]);
  await api.post(`/v1/tasks/${id}/retry`, { input: GOOD });
  await kill();
  await start();

  const replaced = (await historyOf(id)).filter((change) => 'inputBefore' in change);

  expect(replaced.map(({ inputBefore }) => inputBefore)).toEqual([BAD, null]);
  expect((await api.get(`/v1/tasks/${id}`)).body.input).toEqual(GOOD);
});

test('a task that left memory runs again with another input', async () => {
  const key = { dedupeKey: 'mail-1' };
  const id = await failed(key);
  await api.post('/v1/dead-letters/discard', { filter: { type: 'hello' } });
  await hasLeftMemory(id);

  const { status, body } = await api.post(`/v1/tasks/${id}/retry`, { input: GOOD });

  expect([status, body.input]).toEqual([200, GOOD]);
  expect(await session.takeTask()).toMatchObject({ id, input: GOOD });
  const retried = (await historyOf(id)).find(({ reason }) => reason === 'retried');
  expect(retried).toMatchObject({ inputBefore: BAD });
  expect(await auditRecords()).toMatchObject([
    { action: 'task_input_changed', subject: id },
    { action: 'dead_letters_discarded' },
  ]);
  const again = await api.post('/v1/tasks', { type: 'hello', input: GOOD, ...key });
  expect(again.body).toMatchObject({ id, deduplicated: true });
});

/** Other tasks end until none but the newest are in memory. */
async function hasLeftMemory(id: string): Promise<void> {
  let ended = 0;
  const isGone = async () => {
    const { body } = await api.post('/v1/tasks', { type: 'other' });
    await api.post(`/v1/tasks/${body.id}/cancel`);
    ended += 1;
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return ended > 4 && Number(/^sluice_tasks_finished (\d+)$/m.exec(metrics)?.[1]) <= 4;
  };
  await waitUntil(isGone, { what: `${id} has left memory`, timeoutMs: 20_000 });
}

test('the dedupe key of the task stands for the new input', async () => {
  const key = { dedupeKey: 'mail-1' };
  const id = await failed(key);
  await api.post(`/v1/tasks/${id}/retry`, { input: GOOD });

  const old = await api.post('/v1/tasks', { type: 'hello', input: BAD, ...key });
  const same = await api.post('/v1/tasks', { type: 'hello', input: GOOD, ...key });

  expect([old.status, old.body.error.code]).toEqual([409, 'dedupe_mismatch']);
  expect([same.status, same.body]).toMatchObject([200, { id, deduplicated: true }]);
});

test('the old and the new input may be blobs', async () => {
  const [bad, good] = [await upload(BAD), await upload(GOOD)];
  const id = await failed({ input: undefined, inputBlob: bad });

  const { status } = await api.post(`/v1/tasks/${id}/retry`, { inputBlob: good });

  expect(status).toBe(200);
  expect(await session.takeTask()).toMatchObject({ id, inputBlob: good });
  const retried = (await historyOf(id)).find(({ reason }) => reason === 'retried');
  expect(retried).toMatchObject({ inputBlobBefore: bad });
});

test('a bad request changes nothing and names the field', async () => {
  const id = await failed();
  const sha256 = 'a'.repeat(64);
  const path = `/v1/tasks/${id}/retry`;

  const answers = [
    await api.post(path, { input: 1, inputBlob: sha256 }),
    await api.post(path, { inputs: 1 }),
    await api.post(path, { input: 'x'.repeat(300_000) }),
    await api.post(path, { inputBlob: sha256 }),
    await api.post('/v1/dead-letters/redrive', { filter: { type: 'hello' }, input: 1 }),
  ];

  expect(answers.map(({ status, body }) => [status, body.error.details?.[0]?.path])).toEqual([
    [400, '/inputBlob'],
    [400, '/inputs'],
    [413, '/input'],
    [404, '/inputBlob'],
    [400, '/input'],
  ]);
  expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ state: 'failed', input: BAD });
});

test('a task that runs or succeeded keeps its input', async () => {
  const { body } = await api.post('/v1/tasks', { type: 'hello', input: BAD });
  const { lease } = await session.takeTask();
  const running = await api.post(`/v1/tasks/${body.id}/retry`, { input: GOOD });
  await api.report(sessionId, [{ lease, kind: 'succeeded' }]);
  const succeeded = await api.post(`/v1/tasks/${body.id}/retry`, { input: GOOD });

  const codes = [running, succeeded].map((answer) => answer.body.error.code);
  expect(codes).toEqual(['task_not_finished', 'task_finished']);
  expect((await api.get(`/v1/tasks/${body.id}`)).body.input).toEqual(BAD);
  expect(await auditRecords()).toEqual([]);
});
