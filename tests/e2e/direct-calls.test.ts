import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

/**
 * The calls of every task are answered without the web framework (direct.same-answer). A `?` behind
 * the path makes the framework answer the same request.
 */
let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startServer(folder, '--http-body-bytes-max', '100000');
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

interface Sent {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** The whole answer but for what differs between any two: ids and the date. */
async function answerTo({ path, body = '', headers = {} }: Sent): Promise<object> {
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', body, headers });
  const shown = [...answer.headers].filter(
    ([name]) => name !== 'date' && name !== 'content-length',
  );
  const text = (await answer.text()).replaceAll(/"(?:[tq]_\w[\w-]+)"/g, '"ID"');
  return { status: answer.status, headers: shown, text };
}

const TASKS = '/v1/tasks';
const REPORTS = '/v1/worker-sessions/s_abcdefghijklmnopqrstuvwx/reports';
const LEASE = 'l_00000000000000000000000000';

const SAME: [string, Sent][] = [
  ['a task', { path: TASKS, body: '{"type":"a","input":{"text":"ö"}}' }],
  ['tasks', { path: TASKS, body: '[{"type":"a"},{"type":"b"}]' }],
  ['a task that exists', { path: TASKS, body: '{"type":"a","dedupeKey":"k"}' }],
  ['a key with another input', { path: TASKS, body: '[{"type":"a","dedupeKey":"k","input":2}]' }],
  ['a request with a key', { path: TASKS, body: '[{"type":"a"}]', headers: key('one') }],
  ['one task with a key of its request', { path: TASKS, body: '{"type":"a"}', headers: key('2') }],
  ['a key of another request', { path: TASKS, body: '[{"type":"b"}]', headers: key('one') }],
  ['a wrong key of a request', { path: TASKS, body: '{"type":"a"}', headers: key('two words') }],
  ['an empty body', { path: TASKS }],
  ['no JSON', { path: TASKS, body: '{"type":' }],
  ['a wrong field', { path: TASKS, body: '{"type":"a","ö":1}' }],
  ['a body that is too large', { path: TASKS, body: `"${'x'.repeat(100_001)}"` }],
  ['an encoded body', { path: TASKS, body: '{}', headers: { 'content-encoding': 'gzip' } }],
  ['a foreign page', { path: TASKS, body: '{}', headers: { origin: 'http://example.com' } }],
  ['too many headers', { path: TASKS, body: '{}', headers: manyHeaders() }],
  ['reports of an unknown session', { path: REPORTS, body: `{"reports":[{"lease":"${LEASE}"}]}` }],
  ['a sign of life of an unknown session', { path: REPORTS, body: '{"reports":[]}' }],
  ['a wrong report', { path: REPORTS, body: '{"reports":[{"kind":"sang"}]}' }],
  ['what is no session', { path: '/v1/worker-sessions/me/reports', body: '{"reports":[]}' }],
];

function key(text: string): Record<string, string> {
  return { 'idempotency-key': text };
}

function manyHeaders(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`x-${n}`, 'x']));
}

describe('the framework would have answered the same', () => {
  test.each(SAME)('%s', async (_name, sent) => {
    // A task that is submitted twice exists the second time: both have to find it.
    await answerTo({ ...sent, path: `${sent.path}?` });

    const direct = await answerTo(sent);

    expect(direct).toEqual(await answerTo({ ...sent, path: `${sent.path}?` }));
  });
});

test('both are counted as one route', async () => {
  const count = async () => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    const line = /^sluice_http_request_seconds_count\{method="POST",route="\/v1\/tasks"\} (\d+)$/gm;
    return [...page.matchAll(line)].map(([, number]) => Number(number));
  };
  const [before] = await count();

  for (const path of [TASKS, `${TASKS}?`]) await answerTo({ path, body: '{"type":"a"}' });

  expect(await count()).toEqual([before + 2]);
});

test('a call with a key that is wrong is refused the same way', async () => {
  const created = await fetch(`${server.url}/v1/keys`, {
    method: 'POST',
    body: '{"name":"first","roles":["admin"]}',
  });
  expect(created.status).toBe(201);
  const headers = { authorization: 'Bearer slk_wrong' };

  const direct = [
    await answerTo({ path: TASKS, body: '{}' }),
    await answerTo({ path: TASKS, body: '{}', headers }),
  ];

  expect(direct).toMatchObject([{ status: 401 }, { status: 401 }]);
  expect(direct).toEqual([
    await answerTo({ path: `${TASKS}?`, body: '{}' }),
    await answerTo({ path: `${TASKS}?`, body: '{}', headers }),
  ]);
});
