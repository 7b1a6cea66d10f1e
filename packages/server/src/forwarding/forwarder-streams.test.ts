import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import { afterEach, expect, test, vi } from 'vitest';
import { Cleanup, FakeOwner, startForwarder } from '../testing/forwarding-servers.ts';
import type { OwnerPlace } from './peer.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const WAIT = { timeout: 20_000, interval: 5 };

const MIB = 1024 * 1024;

async function answerOf(url: string): Promise<IncomingMessage> {
  const [answer] = await once(httpRequest(url).end(), 'response');
  return answer as IncomingMessage;
}

test('events of a stream arrive one by one, and its head before the first', async () => {
  let stream: ServerResponse | undefined;
  const owner = await FakeOwner.start(cleanup, (_request, response) => {
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream.flushHeaders();
  });
  const { url } = await startForwarder(cleanup, () => owner.place);

  const answer = await answerOf(`${url}/v1/events`);

  expect(answer.headers['content-type']).toBe('text/event-stream');
  for (const event of ['event: a\n\n', 'event: b\n\n']) {
    stream?.write(event);
    const [chunk] = await once(answer, 'data');
    expect(String(chunk)).toBe(event);
  }
  answer.destroy();
  await vi.waitUntil(() => stream?.destroyed === true, WAIT);
});

test('more streams than the pool has connections do not hold up other requests', async () => {
  const owner = await FakeOwner.start(cleanup, ({ url }, response) => {
    if (url === '/v1/events') response.writeHead(200).flushHeaders();
    else response.end('done');
  });
  const { url } = await startForwarder(cleanup, () => owner.place);

  const streams = await Promise.all(
    Array.from({ length: 100 }, () => answerOf(`${url}/v1/events`)),
  );

  expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200));
  expect(await (await fetch(`${url}/v1/tasks`)).text()).toBe('done');
  for (const stream of streams) stream.destroy();
});

test('requests that the owner does not answer do not hold up others', async () => {
  const owner = await FakeOwner.start(cleanup, ({ url }, response) => {
    if (url === '/v1/tasks') response.end('done');
  });
  const { url } = await startForwarder(cleanup, () => owner.place);
  const gone = new AbortController();
  const stuck = Array.from({ length: 70 }, () =>
    fetch(`${url}/v1/queues`, { signal: gone.signal }).catch(() => undefined),
  );

  expect(await (await fetch(`${url}/v1/tasks`)).text()).toBe('done');
  gone.abort();
  await Promise.all(stuck);
});

/** Sends a body of 64 MiB as fast as the reader takes it. */
function sendMuch(response: ServerResponse, onSent: (bytes: number) => void): void {
  const piece = Buffer.alloc(MIB, 'x');
  let left = 64;
  const more = (): void => {
    for (; left > 0; left -= 1) {
      onSent(piece.length);
      if (!response.write(piece)) {
        left -= 1;
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

test('a slow reader slows the owner down instead of filling the memory', async () => {
  let sent = 0;
  const owner = await FakeOwner.start(cleanup, ({ url }, response) => {
    const count = (bytes: number): void => {
      sent += bytes;
    };
    if (url === '/v1/backup') sendMuch(response, count);
    else response.end('done');
  });
  const { url } = await startForwarder(cleanup, () => owner.place);
  const answer = await answerOf(`${url}/v1/backup`);
  answer.pause();

  let before = -1;
  // Other requests pass while the reader does not read, and the owner gets stuck.
  while (sent !== before) {
    before = sent;
    for (let i = 0; i < 20; i += 1) await (await fetch(`${url}/v1/tasks`)).text();
  }

  expect(sent).toBeLessThan(32 * MIB);
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  expect(bytes).toBe(64 * MIB);
});

/** Digests of the bodies that an owner got whole. */
async function startStore(digests: string[]): Promise<FakeOwner> {
  return FakeOwner.start(cleanup, async (request, response) => {
    const digest = createHash('sha256');
    try {
      for await (const chunk of request) digest.update(chunk as Buffer);
    } catch {
      // The request broke off, so there is nobody to answer.
      return;
    }
    digests.push(digest.digest('hex'));
    response.end('{}');
  });
}

test('an upload passes through, and waits for an owner before it begins', async () => {
  const digests: string[] = [];
  let looks = 0;
  let place: OwnerPlace | undefined;
  const look = () => {
    looks += 1;
    return place;
  };
  const { url } = await startForwarder(cleanup, look);
  const body = randomBytes(16 * MIB);
  const answer = fetch(`${url}/v1/blobs/abc`, { method: 'PUT', body });
  await vi.waitUntil(() => looks > 1, WAIT);

  const owner = await startStore(digests);
  place = owner.place;

  expect((await answer).status).toBe(200);
  expect(digests).toEqual([createHash('sha256').update(body).digest('hex')]);
  expect(owner.requests[0].headers['content-length']).toBe(String(body.length));
});

test('an upload that the client breaks off is never whole at the owner (L10)', async () => {
  const digests: string[] = [];
  const owner = await startStore(digests);
  const { url } = await startForwarder(cleanup, () => owner.place);
  const session = connect(url);
  const stream = session.request({ ':method': 'PUT', ':path': '/v1/blobs/abc' });
  stream.on('error', () => undefined);
  stream.write('half');
  await vi.waitUntil(() => owner.requests.length === 1, WAIT);

  session.destroy();

  await vi.waitUntil(() => owner.requests[0].destroyed, WAIT);
  expect(digests).toEqual([]);
});

test('an upload is not repeated once bytes of it were sent', async () => {
  const owner = await FakeOwner.start(cleanup, (request) => {
    request.once('data', () => request.socket.resetAndDestroy());
  });
  const { url } = await startForwarder(cleanup, () => owner.place);

  const response = await fetch(`${url}/v1/blobs/abc`, { method: 'PUT', body: 'x'.repeat(1000) });

  const { error } = (await response.json()) as { error: { code: string } };
  expect([response.status, error.code]).toEqual([503, 'unavailable']);
  expect(owner.requests).toHaveLength(1);
});

test('a stream of a former owner that says nothing more is cut', async () => {
  const answerHead = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200).flushHeaders();
  };
  const former = await FakeOwner.start(cleanup, answerHead);
  const owner = await FakeOwner.start(cleanup, answerHead);
  let place = former.place;
  const { url } = await startForwarder(cleanup, () => place);
  const stream = await answerOf(`${url}/v1/events`);
  const broken = once(stream, 'error');

  place = owner.place;

  await vi.waitUntil(() => former.connections === 0, WAIT);
  expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('connections are used again', async () => {
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end('done'));
  const { url } = await startForwarder(cleanup, () => owner.place);

  for (let i = 0; i < 50; i += 1) await (await fetch(`${url}/v1/tasks`)).text();
  const alone = owner.accepted;
  await Promise.all(
    Array.from({ length: 500 }, async () => (await fetch(`${url}/v1/tasks`)).text()),
  );

  expect(alone).toBe(1);
  expect(owner.accepted).toBeLessThanOrEqual(64);
});
