import { afterEach, expect, test, vi } from 'vitest';
import { HOP_HEADER, readHop, writeHop } from '../http/hop.ts';
import {
  askHttp2,
  Cleanup,
  FakeOwner,
  SECRET,
  startForwarder,
  textOf,
} from '../testing/forwarding-servers.ts';
import type { OwnerPlace } from './peer.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const WAIT = { timeout: 20_000, interval: 5 };

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

test('the client gets status, headers and body of the owner', async () => {
  const owner = await FakeOwner.start(cleanup, async (request, response) => {
    const body = await textOf(request);
    response.writeHead(201, {
      'content-type': 'application/json',
      'x-of-owner': 'yes',
      'set-cookie': ['a=1', 'b=2'],
      connection: 'x-of-connection',
      'x-of-connection': 'no',
    });
    response.end(JSON.stringify({ method: request.method, url: request.url, body }));
  });
  const { url } = await startForwarder(cleanup, () => owner.place);

  const init = { method: 'POST', body: '{"type":"mail"}', headers: { authorization: 'Bearer k' } };
  const response = await fetch(`${url}/v1/tasks?waitMs=5`, init);

  expect(response.status).toBe(201);
  expect(response.headers.get('x-of-owner')).toBe('yes');
  expect(response.headers.get('x-of-connection')).toBeNull();
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const sent = { method: 'POST', url: '/v1/tasks?waitMs=5', body: '{"type":"mail"}' };
  expect(await response.json()).toEqual(sent);
  const [{ headers }] = owner.requests;
  expect(headers).toMatchObject({
    authorization: 'Bearer k',
    host: owner.place.url.replace('http://', ''),
    'content-length': '15',
  });
});

test('what the browser says about its page reaches the owner in the signed hop', async () => {
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end());
  const { url } = await startForwarder(cleanup, () => owner.place);
  const host = url.replace('http://', '');

  const headers = { host, origin: url, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };
  await (await fetch(`${url}/v1/login`, { headers })).text();

  const [{ headers: sent }] = owner.requests;
  expect(sent.origin).toBeUndefined();
  expect(Object.keys(sent).filter((name) => name.startsWith('sec-'))).toEqual([]);
  expect(readHop(sent, SECRET, Date.now())).toMatchObject({
    runId: 'run-forwarder',
    address: '127.0.0.1',
    isEncrypted: false,
    host,
    origin: url,
    site: 'same-origin',
  });
});

test('a page of another site is refused before anything is forwarded', async () => {
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end());
  const { url, refusals } = await startForwarder(cleanup, () => owner.place);

  const response = await fetch(`${url}/v1/tasks`, { headers: { origin: 'https://evil.example' } });

  expect([response.status, await codeOf(response)]).toEqual([403, 'forbidden_origin']);
  expect(owner.requests).toEqual([]);
  expect(refusals).toMatchObject([{ code: 'forbidden_origin', route: '/v1/tasks' }]);
});

test('a client of HTTP/2 is served as well', async () => {
  const owner = await FakeOwner.start(cleanup, async (request, response) => {
    response.writeHead(200, { connection: 'keep-alive', 'x-of-owner': 'yes' });
    response.end(await textOf(request));
  });
  const { url } = await startForwarder(cleanup, () => owner.place);

  const head = { ':method': 'POST', ':path': '/v1/tasks', cookie: 'a=1' };
  const { headers, text } = await askHttp2(url, head, '{"type":"mail"}');

  expect([headers[':status'], headers['x-of-owner'], text]).toEqual([
    200,
    'yes',
    '{"type":"mail"}',
  ]);
  expect(headers.connection).toBeUndefined();
  const [{ headers: sent }] = owner.requests;
  expect(Object.keys(sent).filter((name) => name.startsWith(':'))).toEqual([]);
  const hop = readHop(sent, SECRET, Date.now());
  expect(hop).toMatchObject({ host: url.replace('http://', '') });
});

test('a forwarded request at a server that is not the owner gets 421 (hop.one)', async () => {
  const { url } = await startForwarder(cleanup, () => undefined);
  const facts = { address: '192.0.2.1', isEncrypted: false, host: 'localhost' };

  // Also with an old hop: two servers with wrong clocks must not send requests in circles.
  for (const at of [Date.now(), 0]) {
    const hop = writeHop({ ...facts, runId: 'run-b', at }, SECRET);
    const response = await fetch(`${url}/v1/tasks`, { headers: { [HOP_HEADER]: hop } });
    expect([response.status, await codeOf(response)]).toEqual([421, 'not_owner']);
  }
});

test('a forged hop is dropped, and the request counts as direct', async () => {
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end());
  const { url } = await startForwarder(cleanup, () => owner.place);
  const facts = { address: '192.0.2.1', isEncrypted: true, host: 'localhost' };
  const hop = { ...facts, runId: 'run-b', at: Date.now() };

  const forged = writeHop(hop, Buffer.from('another secret'));
  const response = await fetch(`${url}/v1/tasks`, { headers: { [HOP_HEADER]: forged } });

  expect(response.status).toBe(200);
  const [{ headers }] = owner.requests;
  expect(readHop(headers, SECRET, Date.now())).toMatchObject({ address: '127.0.0.1' });
});

test('two servers that take each other for the owner answer 503 and do not spin', async () => {
  const places: OwnerPlace[] = [];
  const a = await startForwarder(cleanup, () => places[1], { runId: 'a', waitMsMax: 350 });
  const b = await startForwarder(cleanup, () => places[0], { runId: 'b', waitMsMax: 350 });
  places.push({ url: a.url, runId: 'a' }, { url: b.url, runId: 'b' });

  const response = await fetch(`${a.url}/v1/tasks`, { method: 'POST', body: '{}' });

  expect([response.status, await codeOf(response)]).toEqual([503, 'unavailable']);
  expect(a.refusals.map(({ code }) => code)).toEqual(['unavailable']);
  const answers = b.refusals.map(({ code }) => code);
  expect(new Set(answers)).toEqual(new Set(['not_owner']));
  expect(answers.length).toBeLessThanOrEqual(4);
});

test('without an owner a request is held, and then refused with a time to wait', async () => {
  let looks = 0;
  const look = (): undefined => {
    looks += 1;
  };
  const { url } = await startForwarder(cleanup, look, { waitMsMax: 250 });

  const response = await fetch(`${url}/v1/tasks`, { method: 'POST', body: '{}' });

  expect([response.status, await codeOf(response)]).toEqual([503, 'unavailable']);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(looks).toBeGreaterThan(1);
});

test('a held request is answered when there is an owner', async () => {
  let looks = 0;
  let place: OwnerPlace | undefined;
  const look = () => {
    looks += 1;
    return place;
  };
  const { url } = await startForwarder(cleanup, look);
  const answer = fetch(`${url}/v1/tasks`, { method: 'POST', body: '{}' });
  await vi.waitUntil(() => looks > 1, WAIT);

  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end('done'));
  place = owner.place;

  expect(await (await answer).text()).toBe('done');
});

test('the owner is looked up again when the last one says that it is not', async () => {
  const former = await FakeOwner.start(cleanup, (_request, response) => {
    response.writeHead(421).end('{}');
  });
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end('done'));
  const look = () => (former.requests.length < 2 ? former.place : owner.place);
  const { url } = await startForwarder(cleanup, look);

  const response = await fetch(`${url}/v1/tasks/t_1/cancel`, { method: 'POST' });

  expect(await response.text()).toBe('done');
  expect([former.requests.length, owner.requests.length]).toEqual([2, 1]);
});

test('more requests than may be held are refused', async () => {
  const { url } = await startForwarder(cleanup, () => undefined, {
    waitMsMax: 500,
    requestsMax: 2,
  });

  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${url}/v1/tasks`)));

  expect(answers.map(({ status }) => status).toSorted()).toEqual([429, 503, 503]);
  const refused = answers.find(({ status }) => status === 429) as Response;
  expect(await codeOf(refused)).toBe('overloaded');
  expect(refused.headers.get('retry-after')).toBe('1');
  // What was held counts no longer.
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(503);
});

test('more bytes than may be held are refused, with and without a length', async () => {
  const limits = { waitMsMax: 200, bytesMax: 1000 };
  const { url } = await startForwarder(cleanup, () => undefined, limits);
  const post = (body: RequestInit['body']) =>
    fetch(`${url}/v1/tasks`, { method: 'POST', body, duplex: 'half' } as RequestInit);
  const stream = () => new Blob(['x'.repeat(1001)]).stream();

  expect((await post('x'.repeat(1001))).status).toBe(429);
  expect((await post(stream())).status).toBe(429);
  expect((await post('x'.repeat(1000))).status).toBe(503);
});

test('a body beyond the limit is refused', async () => {
  const { url } = await startForwarder(cleanup, () => undefined, { bodyBytesMax: 100 });

  const response = await fetch(`${url}/v1/tasks`, { method: 'POST', body: 'x'.repeat(101) });

  expect([response.status, await codeOf(response)]).toEqual([413, 'payload_too_large']);
});

test('a server that stops refuses held requests and ends those that were sent', async () => {
  const owner = await FakeOwner.start(cleanup, () => undefined);
  let place: OwnerPlace | undefined = owner.place;
  const { url, forwarder } = await startForwarder(cleanup, () => place);
  const sent = fetch(`${url}/v1/tasks`);
  await vi.waitUntil(() => owner.requests.length === 1, WAIT);
  place = undefined;
  const held = fetch(`${url}/v1/tasks`);

  const closing = forwarder.close();

  expect((await held).status).toBe(503);
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(503);
  owner.requests[0].socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone');
  expect(await (await sent).text()).toBe('done');
  await closing;
});
