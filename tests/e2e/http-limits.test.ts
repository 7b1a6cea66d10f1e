import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Short enough for a quick test, and far longer than a request takes. */
const FLAGS = [
  ['--http-head-timeout-ms', '1000'],
  ['--http-request-timeout-ms', '1500'],
  ['--http-idle-timeout-ms', '2000'],
  ['--http-header-bytes-max', '4096'],
  ['--http-headers-max', '20'],
  ['--http-body-bytes-max', '100000'],
  ['--http-streams-per-connection-max', '10'],
  ['--log-level', 'debug'],
].flat();

let folder: string;
let server: ServerProcess;
const connections: RawConnection[] = [];
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startServer(folder, ...FLAGS);
});

afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy();
  for (const session of sessions.splice(0)) session.destroy();
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

async function raw(...texts: string[]): Promise<RawConnection> {
  const connection = await RawConnection.open(server.url);
  connections.push(connection);
  for (const text of texts) connection.send(text);
  return connection;
}

function http2(): ClientHttp2Session {
  const session = connect(server.url);
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

/** The number of the next task shows whether anything was stored in between. */
async function nextTaskNumber(): Promise<number> {
  const answer = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body: '{"type":"p"}' });
  const { id } = (await answer.json()) as { id: string };
  return Number.parseInt(id.slice(-10), 32);
}

const HEAD = 'POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\n';

describe('what is no request gets an answer in the shape of every other error', () => {
  const cases: [string, string, number, string][] = [
    ['not HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['a bad version', 'GET / HTTP/9.9\r\n\r\n', 400, 'invalid_request'],
    ['bytes of another protocol', '\x16\x03\x01\x02\x00\x01\x00', 400, 'invalid_request'],
    ['a header without a colon', `${HEAD}nonsense\r\n\r\n`, 400, 'invalid_request'],
    [
      'two lengths',
      `${HEAD}content-length: 3\r\ncontent-length: 4\r\n\r\n`,
      400,
      'invalid_request',
    ],
    ['a length that is none', `${HEAD}content-length: -1\r\n\r\n`, 400, 'invalid_request'],
    [
      'a length beside chunks',
      `${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`,
      400,
      'invalid_request',
    ],
    [
      'chunks that are none',
      `${HEAD}transfer-encoding: chunked\r\n\r\nnonsense\r\n`,
      400,
      'invalid_request',
    ],
    ['no host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'invalid_request'],
    ['a proxy', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['an expectation', `${HEAD}expect: wonders\r\n\r\n`, 417, 'expectation_failed'],
    ['a long header', `${HEAD}x: ${'x'.repeat(5000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a long address', `GET /${'x'.repeat(5000)} HTTP/1.1\r\n\r\n`, 431, 'headers_too_large'],
    [
      'many headers',
      `${HEAD}connection: close\r\n${'x: 1\r\n'.repeat(20)}content-length: 0\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ];

  test.each(cases)('%s', async (_name, text, status, code) => {
    const connection = await raw(text);

    const answer = errorOf(await connection.whenClosed());

    expect(answer).toEqual({ status, code, requestId: expect.stringMatching(/^q_/) });
    await server.printed(new RegExp(`"code":"${code}","status":${status}.*${answer.requestId}"`));
  });
});

describe('clients that are slow are cut', () => {
  test('one that says nothing', async () => {
    const connection = await raw();

    expect(await connection.whenClosed()).toBe('');
  });

  test('one whose head trickles in', async () => {
    const connection = await raw(HEAD);
    const trickle = setInterval(() => connection.send('x-more: 1\r\n'), 100);

    const answer = errorOf(await connection.whenClosed());

    clearInterval(trickle);
    expect(answer).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  test('one whose body trickles in', async () => {
    const before = await nextTaskNumber();
    const connection = await raw(`${HEAD}content-length: 90000\r\n\r\n{"type":"p"}`);
    const trickle = setInterval(() => connection.send(' '), 100);

    const answer = errorOf(await connection.whenClosed());

    clearInterval(trickle);
    expect(answer).toMatchObject({ status: 408, code: 'request_timeout' });
    expect(await nextTaskNumber()).toBe(before + 1);
  });

  test('one that asks for nothing more', async () => {
    const connection = await raw('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n');

    expect(await connection.whenClosed()).toMatch(/^HTTP\/1.1 200 /);
  });

  test('one that speaks HTTP/2 and asks for nothing', async () => {
    const silent = http2();
    const idle = http2();
    const request = idle.request({ ':path': '/health/live' });
    request.resume();
    await once(request, 'close');

    await Promise.all([once(silent, 'close'), once(idle, 'close')]);

    expect([silent.destroyed, idle.destroyed]).toEqual([true, true]);
  });

  test('one that speaks HTTP/2 and whose body trickles in', async () => {
    const before = await nextTaskNumber();
    const session = http2();
    const request = session.request({ ':path': '/v1/tasks', ':method': 'POST' });
    request.on('error', () => undefined);
    request.write('{"type":"p"}');
    const trickle = setInterval(() => request.write(' '), 100);

    await once(request, 'close');

    clearInterval(trickle);
    expect(request.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(await nextTaskNumber()).toBe(before + 1);
  });
});

describe('over HTTP/2', () => {
  test('too many or too large headers reset the stream, and the connection lives', async () => {
    const session = http2();
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x-${n}`, '1']));

    for (const headers of [many, { x: 'x'.repeat(5000) }]) {
      const request = session.request({ ':path': '/health/live', ...headers });
      const [error] = await once(request, 'error');
      expect(error.code).toBe('ERR_HTTP2_STREAM_ERROR');
    }
    const request = session.request({ ':path': '/health/live' });
    const [answer] = await once(request, 'response');

    expect(answer[':status']).toBe(200);
  });

  test('a client that begins and drops streams without end is disconnected', async () => {
    const session = http2();
    await once(session, 'connect');

    await waitUntil(
      () => {
        for (let i = 0; i < 200 && !session.destroyed && !session.closed; i++) {
          const request = session.request({ ':path': '/health/live' });
          request.on('error', () => undefined);
          request.close(constants.NGHTTP2_CANCEL);
        }
        return session.destroyed || session.closed;
      },
      { what: 'the server has had enough', timeoutMs: 60_000 },
    );

    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
  });

  test('requests at once are bounded by what the server announces', async () => {
    const session = http2();
    await once(session, 'remoteSettings');

    expect(session.remoteSettings).toMatchObject({
      maxConcurrentStreams: 10,
      maxHeaderListSize: 4096,
    });
  });
});

test.each(['/metrics', '/health/live', '/openapi.json', '/no/such/path'])(
  'a page of somebody else gets nothing from %s',
  async (path) => {
    const foreign = ['origin: https://evil.example', 'sec-fetch-site: cross-site'];
    const lines = foreign.map((line) => `host: localhost\r\n${line}`);
    // Probes are answered under any name.
    if (path !== '/health/live') lines.push('host: evil.example');
    for (const line of lines) {
      const connection = await raw(`GET ${path} HTTP/1.1\r\nconnection: close\r\n${line}\r\n\r\n`);

      expect(errorOf(await connection.whenClosed())).toMatchObject({ code: 'forbidden_origin' });
    }
  },
);

test('a body over the configured bound is refused, announced or not', async () => {
  const body = JSON.stringify({ type: 'a', input: 'x'.repeat(100_000) });

  const announced = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
  const chunked = await raw(
    `${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\n`,
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );

  expect(announced.status).toBe(413);
  expect(errorOf(await chunked.whenClosed())).toMatchObject({ status: 413 });
});

test('the log has a line for each refusal, and nothing of what was said', async () => {
  const body = '{"type":"a","password-of-ada":1}';
  const answer = await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
  const { error } = (await answer.json()) as { error: { requestId: string } };
  const secret = await fetch(`${server.url}/v1/worker-sessions/s_hush/reports`, { method: 'POST' });
  const told = (await secret.json()) as { error: { requestId: string } };

  await server.printed(new RegExp(`"requestId":"${told.error.requestId}"`));

  expect(server.lastOutput).toMatch(
    new RegExp(`"requestId":"${error.requestId}","method":"POST","route":"/v1/tasks"`),
  );
  expect(server.lastOutput).not.toContain('password-of-ada');
  expect(server.lastOutput).not.toContain('s_hush');
});
