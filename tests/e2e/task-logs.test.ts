import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const sessions: SessionUnderTest[] = [];
let types = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await start();
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

afterEach(() => {
  for (const session of sessions.splice(0)) session.disconnect();
});

async function start(): Promise<void> {
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
}

/** A worker for a task type that no other worker takes. */
async function worker() {
  types += 1;
  const type = `logged-${types}`;
  const session = new SessionUnderTest(server.url, 'http1', { types: [{ type }] });
  sessions.push(session);
  const { sessionId } = await session.welcomed();
  const submit = async (task: object = {}): Promise<string> => {
    return (await api.post('/v1/tasks', { type, ...task })).body.id;
  };
  const report = (lease: string, ...reports: object[]) => {
    return api.report(
      sessionId,
      reports.map((each) => ({ lease, ...each })),
    );
  };
  return { session, submit, report };
}

function follow(id: string): Promise<Response> {
  const signal = AbortSignal.timeout(30_000);
  return fetch(`${server.url}/v1/tasks/${id}/logs?follow=true`, { signal });
}

const FAILED = { kind: 'failed', error: { message: 'no' } };

test('the lines of both runs are kept when a task is retried, once each', async () => {
  const { session, submit, report } = await worker();
  const id = await submit({ retry: { maxAttempts: 1 } });
  const first = await session.takeTask();
  await report(first.lease, { kind: 'log', seq: 1, lines: ['first run'] }, FAILED);

  await api.post(`/v1/tasks/${id}/retry`, {});
  const second = await session.takeTask();
  for (const seq of [1, 1, 2]) {
    await report(second.lease, { kind: 'log', seq, lines: [`second run ${seq}`] });
  }

  const { body } = await api.get(`/v1/tasks/${id}/logs`);
  expect(body.items).toMatchObject([
    { attempt: 1, line: 'first run' },
    { attempt: 1, line: 'second run 1' },
    { attempt: 1, line: 'second run 2' },
  ]);
});

test('who follows hears the end, however short the task is', async () => {
  const { session, submit, report } = await worker();
  for (let n = 0; n < 150; n++) {
    const id = await submit();
    const { lease } = await session.takeTask();
    const following = follow(id);
    await pause(n % 8);
    await report(lease, { kind: 'succeeded' });

    const events = await (await following).text();

    expect(events).toContain('event: end\ndata: {"state":"succeeded"}');
  }
});

test('many megabytes of lines are followed, each line once and in order', async () => {
  const { session, submit, report } = await worker();
  const id = await submit({ retry: { maxAttempts: 10, delayMs: 0 } });
  const written: string[] = [];
  for (let attempt = 1; attempt <= 10; attempt++) {
    const { lease } = await session.takeTask();
    const lines = Array.from({ length: 80 }, (_, n) => `${attempt} ${n} ${'x'.repeat(10_000)}`);
    await report(lease, { kind: 'log', seq: 1, lines }, FAILED);
    written.push(...lines);
  }

  const events = await (await follow(id)).text();

  const heard = [...events.matchAll(/"line":"([^"]*)"/g)].map(([, line]) => line);
  expect(heard.length).toBe(written.length);
  expect(heard.every((line, place) => line === written[place])).toBe(true);
  expect(events).toContain('event: end\ndata: {"state":"failed"}');
});

test('who follows is told that the server goes away, and it does not wait for him', async () => {
  const { session, submit, report } = await worker();
  const id = await submit();
  const { lease } = await session.takeTask();
  await report(lease, { kind: 'log', seq: 1, lines: ['before'] });
  let events = '';
  for await (const chunk of (await follow(id)).body as ReadableStream<Uint8Array>) {
    if (events === '') server.signal('SIGTERM');
    events += Buffer.from(chunk).toString();
  }
  await server.exited();
  api.close();
  await start();

  expect(events).toContain('"line":"before"');
  expect(events.endsWith('event: drain\ndata: {}\n\n')).toBe(true);
  expect((await api.get(`/v1/tasks/${id}/logs`)).body.items).toMatchObject([{ line: 'before' }]);
});
