import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { AddressGuard } from '../callbacks/address-guard.ts';
import { HttpClient } from './http-client.ts';
import type { RequestFailure } from './request-failure.ts';
import { stepRequest } from './step-request.ts';

const servers: { close(): unknown }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (answer: RequestListener): Promise<string> => listening(createServer(answer));

function clientFor(allow: readonly string[] = ['127.0.0.0/8']): HttpClient {
  const resolve = (name: string) => Promise.resolve(name === 'none.example' ? [] : ['127.0.0.1']);
  return new HttpClient({ guard: new AddressGuard(allow), resolve, version: '1.2.3' });
}

const never = new AbortController().signal;

function send(input: object, client = clientFor()) {
  return client.send(stepRequest(input), never);
}

async function failure(input: object, client = clientFor()): Promise<RequestFailure> {
  try {
    await send(input, client);
  } catch (cause) {
    return cause as RequestFailure;
  }
  throw new Error('it did not fail');
}

test('a request has its method, headers and body, and gives the whole answer', async () => {
  const seen: unknown[] = [];
  const uri = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    const { accept, 'x-key': key, 'user-agent': agent, 'content-type': type } = headers;
    seen.push({ method, url, accept, key, agent, type, body: Buffer.concat(chunks).toString() });
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.writeHead(201, 'Made', { 'content-type': 'application/problem+json' });
    response.end('{"id":7}');
  });

  const { response } = await send({
    http_request: { uri: `${uri}/x?q=1`, method: 'post', headers: { 'X-Key': 5 }, body: { n: 1 } },
  });

  expect(seen).toEqual([
    {
      method: 'POST',
      url: '/x?q=1',
      accept: 'application/json',
      key: '5',
      agent: 'Sluice/1.2.3',
      type: 'application/json',
      body: '{"n":1}',
    },
  ]);
  expect(response).toMatchObject({ statusCode: 201, reasonPhrase: 'Made', body: { id: 7 } });
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
});

test('a text is sent and read as it is, and no body is null', async () => {
  const uri = await serve((request, response) => {
    response.setHeader('content-type', String(request.headers['content-type'] ?? 'text/plain'));
    request.pipe(response);
  });

  const text = await send({ uri, method: 'PUT', body: 'plain {' });
  const none = await send({ url: uri });

  expect(text.response.body).toBe('plain {');
  expect(none.response.body).toBeNull();
});

test('an answer that only says that it is JSON is a text', async () => {
  const uri = await serve((_, response) => {
    response.setHeader('content-type', 'application/json').end('{oops');
  });

  expect((await send({ uri })).response.body).toBe('{oops');
});

test.each([
  [400, false],
  [404, false],
  [301, false],
  [408, true],
  [429, true],
  [500, true],
  [503, true],
])('an answer %d is retried: %s', async (status, retryable) => {
  const uri = await serve((_, response) => {
    response.writeHead(status, { 'retry-after': '7', location: 'http://127.0.0.1:1/' });
    response.end('why');
  });

  const found = await failure({ uri: `${uri}/a/b?token=secret` });

  expect(found).toMatchObject({ code: `http_${status}`, retryable, retryAfterMs: 7000 });
  expect(found.message).toContain(`GET ${uri}/a/b answered ${status}`);
  expect(found.message).toMatch(/: why$/);
  expect(found.message).not.toContain('secret');
});

test('an address that may not be called is refused before anything is sent', async () => {
  let calls = 0;
  const uri = await serve((_, response) => {
    calls += 1;
    response.end();
  });
  const strict = clientFor([]);

  for (const to of [uri, uri.replace('127.0.0.1', 'host.example'), 'http://[::1]:1/']) {
    const found = await failure({ uri: to }, strict);
    expect(found).toMatchObject({ code: 'address_not_allowed', retryable: false });
    expect(found.message).toContain('callbacks.allow');
  }
  expect(calls).toBe(0);
});

test('a name without an address and a closed port are tried again', async () => {
  const closed = await serve(() => undefined);
  servers.splice(0).forEach((server) => void server.close());

  expect(await failure({ uri: 'http://none.example/' })).toMatchObject({
    code: 'name_not_resolved',
    retryable: true,
  });
  expect(await failure({ uri: closed })).toMatchObject({
    code: 'connection_failed',
    retryable: true,
  });
});

test('an answer that does not come, or does not end, is given up', async () => {
  const silent = await serve(() => undefined);
  const endless = await serve((_, response) => {
    response.write('a');
  });

  for (const uri of [silent, endless]) {
    const found = await failure({ uri, readTimeOut: 50 });
    expect(found).toMatchObject({ code: 'timed_out', retryable: true });
    expect(found.message).toBe(`GET ${uri}/ did not answer in time`);
  }
});

test('an answer that is too large is a failure for good', async () => {
  const uri = await serve((_, response) => {
    response.end('x'.repeat(256 * 1024 + 1));
  });

  const found = await failure({ uri });

  expect(found).toMatchObject({ code: 'answer_too_large', retryable: false });
  expect(found.message).toContain('more than 262144 bytes');
});

test('what is no HTTP is a failure that may be retried', async () => {
  const uri = await listening(createTcpServer((socket) => socket.end('hello\r\n\r\n')));

  expect((await failure({ uri })).retryable).toBe(true);
});

test('a request that is stopped ends at once', async () => {
  const uri = await serve(() => undefined);
  const stop = new AbortController();
  const sent = clientFor().send(stepRequest({ uri }), stop.signal);

  stop.abort();

  await expect(sent).rejects.toMatchObject({ code: 'cancelled' });
});

test.each([
  [{}, '/uri: an HTTP step needs the uri'],
  [null, '/uri: an HTTP step needs the uri'],
  [{ uri: 'ftp://a' }, '/uri: uri must be an address that begins with http://'],
  [{ uri: 'http://a b' }, '/uri: an HTTP step needs the uri'],
  [{ uri: 'http://a', method: 'BREW' }, '/method: method must be one of GET'],
  [{ uri: 'http://a', headers: { a: {} } }, '/headers: headers must be an object of texts'],
  [{ http_request: { uri: 'http://a', readTimeOut: 0 } }, '/http_request/readTimeOut: readTimeOut'],
])('the input %j is refused by the name of its field', (input, message) => {
  expect(() => stepRequest(input)).toThrow(message);
});

test('an answer that switches the protocol is no whole answer', async () => {
  const uri = await listening(
    createTcpServer((socket) => {
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
        );
      });
      socket.on('error', () => undefined);
    }),
  );

  const found = await failure({ http_request: { uri, method: 'GET' } });

  expect(found).toMatchObject({ code: 'connection_failed' });
});
