import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';

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

/** Sends a request byte by byte, and returns the whole answer. */
async function answerTo(head: string): Promise<string> {
  const connection = await RawConnection.open(server.url);
  connection.send(`${head}\r\nConnection: close\r\n\r\n`);
  return connection.whenClosed();
}

test.each(['/v1/events', '/metrics', '/v1/tasks'])('HEAD %s ends', async (path) => {
  const answer = await fetch(`${server.url}${path}`, { method: 'HEAD' });

  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('');
});

test('HEAD of the lines of a task that are followed ends', async () => {
  const submit = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body: '{"type":"a"}' });
  const { id } = (await submit.json()) as { id: string };

  const answer = await fetch(`${server.url}/v1/tasks/${id}/logs?follow`, { method: 'HEAD' });

  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  expect(await answer.text()).toBe('');
});

test('a request that names a second, foreign host is refused', async () => {
  const twice = await answerTo('GET /v1/tasks HTTP/1.1\r\nHost: localhost\r\nHost: evil.example');
  const whole = await answerTo('GET http://evil.example/v1/tasks HTTP/1.1\r\nHost: localhost');

  expect(twice).toMatch(/^HTTP\/1.1 400 .*invalid_request.*Host/s);
  expect(whole).toMatch(/^HTTP\/1.1 403 .*forbidden_origin/s);
});

test('what an error repeats of a request is cut', async () => {
  const long = '1'.repeat(1_000_000);
  const bodies = [`{"type":"a","input":${long}}`, `{"type":"a","${long}":1}`, `{"type":"${long}"}`];

  for (const body of bodies) {
    const answer = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
    expect(answer.status).toBe(400);
    expect((await answer.text()).length).toBeLessThan(5000);
  }
});

test('ten thousand bad reports get a short answer', async () => {
  const path = `/v1/worker-sessions/s_${'a'.repeat(24)}/reports`;
  const reports = Array.from({ length: 10_000 }, () => ({ kind: 'failed', error: { x: 1 } }));

  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    body: JSON.stringify({ reports }),
  });

  expect(answer.status).toBe(400);
  expect((await answer.text()).length).toBeLessThan(20_000);
});

test('reports to what is no session id are not found, and none is answered', async () => {
  const reports = [{ lease: 'l_1', kind: 'succeeded' }];

  const answer = await fetch(`${server.url}/v1/worker-sessions/undefined/reports`, {
    method: 'POST',
    body: JSON.stringify({ reports }),
  });

  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'session_not_found' } });
});

test('an id of another form is refused in lists, and one that nobody knows is listed', async () => {
  const get = async (id: string) => {
    const body = JSON.stringify({ ids: [id] });
    const answer = await fetch(`${server.url}/v1/tasks/get`, { method: 'POST', body });
    return { status: answer.status, ...((await answer.json()) as object) };
  };

  expect(await get('t_unknown')).toMatchObject({ status: 200, unknown: ['t_unknown'] });
  expect(await get('x'.repeat(65))).toMatchObject({ status: 400 });
});
