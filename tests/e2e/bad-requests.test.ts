import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

async function call(path: string, init?: RequestInit) {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) };
}

function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) {
  return call(path, { method: 'POST', body, headers });
}

/** The number of the next task shows whether anything was stored in between. */
async function nextTaskNumber(): Promise<number> {
  const { body } = await post('/v1/tasks', '{"type": "probe"}');
  return Number.parseInt(body.id.slice(-10), 32);
}

const TASK = '{"type": "hello"}';

describe('a request that is refused stores nothing and names the field', () => {
  const cases: [string, string, { path: string; problem: unknown }[]][] = [
    ['no type', '{}', [{ path: '/type', problem: 'is required' }]],
    ['an unknown field', `{"type":"a","tpye":1}`, [{ path: '/tpye', problem: expect.anything() }]],
    ['a bad type', '{"type":"a b"}', [{ path: '/type', problem: expect.anything() }]],
    [
      'a long type',
      `{"type":"${'a'.repeat(129)}"}`,
      [{ path: '/type', problem: expect.anything() }],
    ],
    ['priority 9', '{"type":"a","priority":9}', [{ path: '/priority', problem: 'must be <= 8' }]],
    [
      'priority 1.5',
      '{"type":"a","priority":1.5}',
      [{ path: '/priority', problem: expect.anything() }],
    ],
    [
      'a time without a zone',
      '{"type":"a","runAt":"2030-01-01T00:00:00"}',
      [{ path: '/runAt', problem: expect.stringContaining('2030-01-01T00:00:00.000Z') }],
    ],
    [
      'a time of no form',
      '{"type":"a","runAt":true}',
      [{ path: '/runAt', problem: expect.stringMatching(/^must be text or a whole number.*ISO/) }],
    ],
    [
      'a timeout of nothing',
      '{"type":"a","timeouts":{"runMs":0}}',
      [{ path: '/timeouts/runMs', problem: 'must be >= 1' }],
    ],
    [
      'a timeout of no kind',
      '{"type":"a","timeouts":{"idleMs":5}}',
      [{ path: '/timeouts/idleMs', problem: expect.anything() }],
    ],
    [
      'a tag that is no text',
      '{"type":"a","tags":{"n":1}}',
      [{ path: '/tags/n', problem: 'must be string' }],
    ],
    [
      'too many tags',
      JSON.stringify({
        type: 'a',
        tags: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`t${n}`, ''])),
      }),
      [{ path: '/tags', problem: expect.anything() }],
    ],
    [
      'a callback to no address',
      '{"type":"a","callback":{"url":"ftp://x","on":["failed"]}}',
      [{ path: '/callback/url', problem: expect.anything() }],
    ],
    [
      'a time beyond time',
      '{"type":"a","runAt":9007199254740991}',
      [{ path: '/runAt', problem: expect.anything() }],
    ],
    [
      'a parent that is no task',
      '{"type":"a","parentId":"\\ud800"}',
      [{ path: '/parentId', problem: expect.anything() }],
    ],
    [
      'two times',
      '{"type":"a","runAt":1,"delayMs":1}',
      [{ path: '/delayMs', problem: 'cannot be combined with runAt' }],
    ],
    [
      'a negative delay',
      '{"type":"a","delayMs":-1}',
      [{ path: '/delayMs', problem: 'must be >= 0' }],
    ],
    [
      'a ladder beside a rule',
      '{"type":"a","retry":{"delaysMs":[1],"maxAttempts":2}}',
      [{ path: '/retry/maxAttempts', problem: 'cannot be combined with delaysMs' }],
    ],
    ['a reserved type', '{"type":"command"}', [{ path: '/type', problem: expect.anything() }]],
    [
      'a window without a key',
      '{"type":"a","dedupeWindowMs":5000}',
      [{ path: '/dedupeWindowMs', problem: 'needs a dedupeKey' }],
    ],
    [
      'an unknown backoff',
      '[{"type":"a","retry":{"backoff":"random"}}]',
      [{ path: '/0/retry/backoff', problem: 'must be one of fixed, linear, exponential' }],
    ],
    [
      'a day that no month has',
      '{"type":"a","runAt":"2030-02-30T00:00:00Z"}',
      [{ path: '/runAt', problem: expect.stringContaining('2030-01-01T00:00:00.000Z') }],
    ],
    ['a name twice', '{"type":"a","type":"b"}', [{ path: '/type', problem: 'occurs twice' }]],
    [
      'a name twice inside the input',
      '[{"type":"a","input":{"b":[{"c":1,"c":2}]}}]',
      [{ path: '/0/input/b/0/c', problem: 'occurs twice' }],
    ],
    [
      'a key that UTF-8 cannot hold',
      '{"type":"a","dedupeKey":"\\ud800"}',
      [{ path: '/dedupeKey', problem: expect.stringContaining('surrogate') }],
    ],
    ['null', 'null', [{ path: '', problem: expect.anything() }]],
    ['a number', '7', [{ path: '', problem: expect.anything() }]],
    ['an empty array', '[]', [{ path: '', problem: 'has 0 tasks; 1 to 1000 are allowed' }]],
    ['no JSON', '{"type":', [{ path: '', problem: expect.anything() }]],
    ['an empty body', '', [{ path: '', problem: expect.anything() }]],
    [
      'one bad task among good ones',
      `[${TASK},${TASK},{"type":""}]`,
      [{ path: '/2/type', problem: expect.anything() }],
    ],
    [
      'two bad tasks',
      `[{"type":1},{"x":1,"type":"a"}]`,
      [
        { path: '/0/type', problem: expect.anything() },
        { path: '/1/x', problem: 'is not a known field' },
      ],
    ],
  ];

  test.each(cases)('%s', async (_name, body, details) => {
    const before = await nextTaskNumber();

    const answer = await post('/v1/tasks', body);

    expect(answer.status).toBe(400);
    expect(answer.body.error).toEqual({
      code: 'invalid_request',
      message: expect.stringMatching(/./),
      details,
      requestId: expect.stringMatching(/^q_/),
    });
    expect(await nextTaskNumber()).toBe(before + 1);
  });

  test('more unknown fields than anybody reads', async () => {
    const before = await nextTaskNumber();
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 1]));

    const task = await post('/v1/tasks', JSON.stringify({ type: 'a', priority: 99, ...fields }));
    const session = await post('/v1/worker-sessions', JSON.stringify(fields));
    const query = await post(`/v1/tasks?${new URLSearchParams(fields as never)}`, TASK);
    const report = { lease: 5, kind: 'succeeded', ...fields };
    const reports = await post(
      '/v1/worker-sessions/s_AAAAAAAAAAAAAAAAAAAAAAAA/reports',
      JSON.stringify({ reports: [report] }),
    );

    for (const answer of [task, session, query, reports]) {
      expect(answer.status).toBe(400);
      expect(answer.body.error.details.length).toBeGreaterThan(0);
      expect(answer.body.error.details.length).toBeLessThanOrEqual(60);
    }
    expect(await nextTaskNumber()).toBe(before + 1);
  });

  test.each(['constructor', 'toString', '__proto__', ''])('a report of kind %j', async (kind) => {
    const body = JSON.stringify({ reports: [{ lease: 'x', kind }] });

    const answer = await post('/v1/worker-sessions/s_AAAAAAAAAAAAAAAAAAAAAAAA/reports', body);

    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe('/reports/0/kind');
  });

  test('1,001 tasks', async () => {
    const answer = await post('/v1/tasks', `[${Array(1001).fill(TASK).join(',')}]`);

    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toContain('1 to 1000');
  });

  test('bytes that are not UTF-8', async () => {
    const answer = await post('/v1/tasks', Uint8Array.from([0x22, 0xff, 0x22]));

    expect(answer.body.error.message).toContain('not UTF-8');
  });

  test('an input that is nested too deeply', async () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);

    const answer = await post('/v1/tasks', `{"type":"a","input":${deep}}`);

    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual([
      { path: '/input', problem: 'is nested too deeply: 500 levels are taken' },
    ]);
  });

  test.each([
    ['POST', '/v1/tasks', '[{"type":"a"},{"type":"a","input":[9007199254740993]}]', '/1/input/0'],
    ['PATCH', '/v1/tasks/t_x', '{"input":{"n":1e400}}', '/input/n'],
    ['POST', '/v1/tasks/t_x/signal', '{"name":"a","data":1e400}', '/data'],
    ['POST', '/v1/tasks/t_x/complete', '{"output":1e400}', '/output'],
    [
      ...['POST', '/v1/worker-sessions/s_AAAAAAAAAAAAAAAAAAAAAAAA/reports'],
      ...['{"reports":[{"lease":"l","kind":"succeeded","output":1e400}]}', '/reports/0/output'],
    ],
  ])('a number that would be changed: %s %s', async (method, path, body, field) => {
    const answer = await call(path, { method, body });

    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual([
      { path: field, problem: expect.stringContaining('stored exactly: send it as text') },
    ]);
  });

  test('a body over 4 MiB', async () => {
    const answer = await post(
      '/v1/tasks',
      JSON.stringify({ type: 'a', input: 'x'.repeat(4 << 20) }),
    );

    expect(answer.status).toBe(413);
    expect(answer.body.error.code).toBe('payload_too_large');
  });

  test('a compressed body', async () => {
    const answer = await post('/v1/tasks', 'xxx', { 'content-encoding': 'gzip' });

    expect(answer.status).toBe(415);
    expect(answer.body.error.code).toBe('unsupported_encoding');
  });

  test('a query that makes no sense', async () => {
    const unknown = await post('/v1/tasks?wait=1', TASK);
    const tooLong = await post('/v1/tasks?waitMs=60001', TASK);
    const array = await post('/v1/tasks?waitMs=1', `[${TASK}]`);

    expect(unknown.body.error.details[0].path).toBe('/wait');
    expect(tooLong.body.error.details[0].path).toBe('/waitMs');
    expect(array.body.error.details[0].path).toBe('/waitMs');
  });
});

test('numbers come back as they were sent', async () => {
  const sent = '[9007199254740991,1.7976931348623157e308,0.30000000000000004,5e-324,-1e21]';

  const { body } = await post('/v1/tasks', `{"type":"a","input":${sent}}`);

  expect((await call(`/v1/tasks/${body.id}`)).body.input).toEqual(JSON.parse(sent));
});

test('any content type is read as JSON', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
    const answer = await post('/v1/tasks', TASK, { 'content-type': type });

    expect(answer.status).toBe(201);
  }
});

test('unknown paths, methods and addresses have the shape of every other error', async () => {
  const noPath = await call('/v1/nothing');
  const noMethod = await call('/v1/tasks', { method: 'PUT' });
  const badAddress = await call('/v1/tasks/%zz');
  const noTask = await call('/v1/tasks/t_00000000000000000000');
  const longId = await call(`/v1/tasks/${'x'.repeat(500)}`);

  expect([noPath.status, noPath.body.error.code]).toEqual([404, 'route_not_found']);
  expect([noMethod.status, noMethod.body.error.code]).toEqual([405, 'method_not_allowed']);
  expect(noMethod.headers.get('allow')).toBe('POST, GET, PATCH');
  expect([badAddress.status, badAddress.body.error.code]).toEqual([400, 'invalid_request']);
  expect([noTask.status, noTask.body.error.code]).toEqual([404, 'task_not_found']);
  expect([longId.status, longId.body.error.code]).toEqual([404, 'task_not_found']);
});

test.each([
  ['a foreign origin', { origin: 'https://evil.example' }],
  ['an opaque origin', { origin: 'null' }],
  ['a cross-site request', { 'sec-fetch-site': 'cross-site' }],
  ['a foreign host', { host: 'evil.example:7420' }],
])('%s is refused', async (_name, headers) => {
  // `fetch` cannot set the host header, and an attacker in a browser would not use it either.
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  const head = `POST /v1/tasks HTTP/1.1\r\ncontent-length: ${TASK.length}\r\n${lines.join('')}\r\n`;

  const answer = await rawExchange(head + TASK);

  expect(answer).toMatch(/^HTTP\/1.1 403 /);
  expect(answer).toContain('"forbidden_origin"');
});

test('a request that comes byte by byte is read like any other', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.setNoDelay(true);
  const request = `POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${TASK.length}\r\n\r\n`;
  for (const byte of request + TASK) {
    await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
  }

  const [answer] = await once(socket, 'data');
  socket.destroy();

  expect(String(answer)).toMatch(/^HTTP\/1.1 201 /);
});

test('the own origin is allowed', async () => {
  const answer = await post('/v1/tasks', TASK, { origin: server.url });

  expect(answer.status).toBe(201);
});

describe('half a body is no body (L10)', () => {
  const half = `[${TASK}, ${TASK}]   `;

  test('an HTTP/1.1 client that dies before its announced length', async () => {
    const before = await nextTaskNumber();

    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 999\r\n\r\n${half}`,
    );
    socket.end();
    await once(socket.resume(), 'close');

    expect(await nextTaskNumber()).toBe(before + 1);
  });

  test.each([undefined, 999])('an HTTP/2 client that dies, content-length %s', async (length) => {
    const before = await nextTaskNumber();

    const session = connectHttp2(server.url);
    session.on('error', () => undefined);
    const headers = { ':method': 'POST', ':path': '/v1/tasks' };
    const stream = session.request(
      length === undefined ? headers : { ...headers, 'content-length': length },
    );
    stream.on('error', () => undefined);
    await new Promise<void>((resolve) => stream.write(half, () => resolve()));
    session.destroy();
    await once(session, 'close');

    expect(await nextTaskNumber()).toBe(before + 1);
  });

  test('an HTTP/2 body without an announced length is read to its end', async () => {
    const session = connectHttp2(server.url);
    const stream = session.request({ ':method': 'POST', ':path': '/v1/tasks' });
    stream.write('{"type":');
    stream.end('"hello"}');
    const [headers] = await once(stream, 'response');
    session.destroy();

    expect(headers[':status']).toBe(201);
  });
});

async function rawExchange(request: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(request);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}
