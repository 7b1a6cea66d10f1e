import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ApiCaller } from './api-caller.ts';
import { NoServerError, RefusedError, StrangeServerError } from './api-errors.ts';

/** A port without a listener. */
const NOBODY = 'http://127.0.0.1:2';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function saying(text: string, status = 200, type = 'application/json'): Promise<string> {
  return listen((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(text);
  });
}

function callerOf(...urls: string[]): ApiCaller {
  return new ApiCaller({ url: urls.join(','), env: {}, signal: new AbortController().signal });
}

interface List {
  readonly items: readonly string[];
}

/** Reads a request to its end, then closes the connection without an answer. */
function hangingUp(arrived: string[]): Promise<string> {
  return listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    arrived.push(body);
    response.destroy();
  });
}

test('an address that breaks off is passed over, and not asked first again', async () => {
  let asked = 0;
  const cut = await listen((_request, response) => {
    asked++;
    response.writeHead(200, { 'content-length': 100 }).write('{"items": [');
    setImmediate(() => response.destroy());
  });
  const good = await saying('{"items": ["a"]}');
  const api = callerOf(cut, good);

  const first = await api.get<List>('/', ['items']);
  const second = await api.get<List>('/', ['items']);

  expect([first, second]).toEqual([{ items: ['a'] }, { items: ['a'] }]);
  expect([asked, api.url]).toEqual([1, good]);
});

test('an answer that breaks off at the last address is no server', async () => {
  const cut = await hangingUp([]);

  const asked = callerOf(NOBODY, cut).get<List>('/', ['items']);

  await expect(asked).rejects.toThrow(NoServerError);
  await expect(asked).rejects.toThrow(`${cut} (`);
});

test("only for this machine is there the advice to start a server with 'sluice dev'", async () => {
  const asked = (...urls: string[]) => callerOf(...urls).get<List>('/', ['items']);

  await expect(asked(NOBODY, 'http://localhost:1')).rejects.toThrow(
    "; start one with 'sluice dev', or set its address",
  );
  // `fetch` refuses port 1 without a connection.
  await expect(asked('http://192.0.2.1:1')).rejects.toThrow('; set its address with --url');
});

test('an address with the path of the API is that of its server', () => {
  expect(callerOf('https://host:7430/v1').url).toBe('https://host:7430');
  expect(callerOf('https://host/behind/a/proxy/v1/').url).toBe('https://host/behind/a/proxy');
});

test('what would be done twice is not sent again once it may have arrived', async () => {
  const arrived: string[] = [];
  const urls = [await hangingUp(arrived), await hangingUp(arrived)];

  const sent = callerOf(NOBODY, ...urls).postOnce('/', [], { name: 'a' });

  await expect(sent).rejects.toThrow(NoServerError);
  await expect(sent).rejects.toThrow('may or may not have taken effect');
  expect(arrived).toEqual(['{"name":"a"}']);
});

test('what may be sent twice goes to the next address', async () => {
  const arrived: string[] = [];
  const urls = [await hangingUp(arrived), await saying('{"id": "t_1"}')];

  expect(await callerOf(...urls).post('/', ['id'], 1)).toEqual({ id: 't_1' });
  expect(arrived).toEqual(['1']);
});

test.each([
  ['{}', 200],
  ['<html>', 200],
  ['', 200],
  ['{"items": 5}', 200],
  ['[]', 200],
  ['<html>', 404],
  ['{"error": "no"}', 400],
])('%j with status %i is not how Sluice answers', async (text, status) => {
  const url = await saying(text, status);

  const asked = callerOf(url).get<List>('/', ['items']);

  await expect(asked).rejects.toThrow(StrangeServerError);
  await expect(asked).rejects.toThrow(`${url} does not answer like a Sluice server`);
});

test('a proxy without a server behind it is no server; a refusal is an answer', async () => {
  const proxy = await saying('<html>', 502);
  const server = await saying('{"error": {"code": "bad", "message": "no"}}', 503);

  await expect(callerOf(proxy).get<List>('/', ['items'])).rejects.toThrow(NoServerError);
  await expect(callerOf(server).get<List>('/', ['items'])).rejects.toThrow(
    new RefusedError('no (bad)', { code: 'bad' }),
  );
});

test.each([
  ['event: end\ndata: {}\n\n', undefined],
  ['event: lines\ndata: []\n\n', 'lost the connection'],
  ['event: lines\ndata: [', 'lost the connection'],
])('a stream of %j ends well only with its end', async (text, problem) => {
  const followed = callerOf(await saying(text, 200, 'text/event-stream')).follow('/', () => 0);

  if (problem === undefined) await followed;
  else await expect(followed).rejects.toThrow(problem);
});

test('a page in place of a stream is not how Sluice answers', async () => {
  const followed = callerOf(await saying('<html>', 200, 'text/html')).follow('/', () => 0);

  await expect(followed).rejects.toThrow(StrangeServerError);
});

test.each(['', ' , '])('an address of %j is none, and the default is asked', (url) => {
  const api = new ApiCaller({
    url: undefined,
    env: { SLUICE_URL: url },
    signal: new AbortController().signal,
  });

  expect(api.url).toBe('http://127.0.0.1:7420');
});

test('a password in the address is refused and not shown', () => {
  for (const url of ['http://ada:s3cret@host:1', 'ada:s3cret@host', 'http://a,http://s3cret@b']) {
    expect(() => callerOf(url)).toThrow(/^(?!.*s3cret).*SLUICE_API_KEY/);
  }
});

test('a blob goes up and comes down byte by byte', async () => {
  const bytes = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
  let arrived = Buffer.alloc(0);
  const url = await listen(async (request, response) => {
    if (request.method === 'PUT') arrived = Buffer.concat(await request.toArray());
    response.end(request.method === 'PUT' ? '{"sha256": "x", "bytes": 4}' : bytes);
  });

  await callerOf(url).putBlob(bytes);
  const got = await callerOf(url).getBlob('x');

  expect(arrived).toEqual(bytes);
  expect(got).toEqual(bytes);
});

test.each(['127.0.0.1:7420', 'htp://127.0.0.1', 'http://', 'localhost'])(
  "the address '%s' is refused with the form that it needs",
  (url) => {
    expect(() => new ApiCaller({ url, env: {}, signal: new AbortController().signal })).toThrow(
      `the address '${url.replace(/\/+$/, '')}' must begin with http:// or https://`,
    );
  },
);
