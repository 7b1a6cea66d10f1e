import { once } from 'node:events';
import { request as httpRequest, type RequestListener } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import {
  askHttp2,
  Cleanup,
  FakeOwner,
  type RunningForwarder,
  startForwarder,
  textOf,
} from '../testing/forwarding-servers.ts';
import type { OwnerPlace } from './peer.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const WAIT = { timeout: 20_000, interval: 5 };

interface Broken extends RunningForwarder {
  readonly first: FakeOwner;
  readonly second: FakeOwner;
}

/** The first owner dies when it has a request; then there is a second one. */
async function dyingOwner(
  die?: RequestListener,
  knowsRequestKeys?: () => boolean,
): Promise<Broken> {
  const second = await FakeOwner.start(cleanup, async (request, response) => {
    response.end(`second: ${await textOf(request)}`);
  });
  let place = second.place;
  const first: FakeOwner = await FakeOwner.start(cleanup, async (request, response) => {
    await textOf(request);
    place = second.place;
    die?.(request, response);
    if (die === undefined) await first.kill();
  });
  place = first.place;
  const forwarder = await startForwarder(cleanup, () => place, {
    ...(knowsRequestKeys === undefined ? {} : { knowsRequestKeys }),
  });
  return { ...forwarder, first, second };
}

interface Change {
  readonly path: string;
  readonly method: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

const REPEATED: Change[] = [
  { method: 'GET', path: '/v1/tasks/t_1' },
  { method: 'GET', path: '/no/such/path' },
  { method: 'HEAD', path: '/v1/tasks' },
  { method: 'POST', path: '/v1/tasks/get', body: '{"ids":[]}' },
  { method: 'POST', path: '/v1/worker-sessions/s_1/reports', body: '{}' },
  { method: 'PUT', path: '/v1/schedules/a', body: '{}' },
  { method: 'POST', path: '/v1/tasks', body: '{"type":"a","dedupeKey":"k"}' },
  { method: 'POST', path: '/v1/tasks', body: '[{"dedupeKey":"k"},{"dedupeKey":"l"}]' },
  { method: 'POST', path: '/v1/runs?waitMs=10', body: '{"workflow":"a","dedupeKey":"k"}' },
];

test.each(REPEATED)('$method $path $body is repeated at the next owner', async (change) => {
  const { url, first, second } = await dyingOwner();

  const { path, ...init } = change;
  const response = await fetch(url + path, init);

  expect(response.status).toBe(200);
  if (change.method !== 'HEAD') expect(await response.text()).toBe(`second: ${change.body ?? ''}`);
  expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
});

const NOT_REPEATED: Change[] = [
  { method: 'POST', path: '/v1/tasks', body: '{"type":"a"}' },
  { method: 'POST', path: '/v1/tasks', body: '[{"dedupeKey":"k"},{"type":"a"}]' },
  { method: 'POST', path: '/v1/tasks', body: '{"dedupeKey":"k","onDuplicate":"replace"}' },
  { method: 'POST', path: '/v1/tasks', body: '[]' },
  { method: 'POST', path: '/v1/tasks', body: '{' },
  { method: 'POST', path: '/v1/tasks/t_1/cancel' },
  { method: 'DELETE', path: '/v1/schedules/a' },
  { method: 'PATCH', path: '/v1/queues/a', body: '{}' },
  { method: 'POST', path: '/v1/worker-sessions', body: '{}' },
  { method: 'POST', path: '/no/such/path', body: '{}' },
];

test.each(NOT_REPEATED)('$method $path $body is not repeated: it may be done', async (change) => {
  const { url, second } = await dyingOwner();

  const { path, ...init } = change;
  const response = await fetch(url + path, init);

  const { error } = (await response.json()) as { error: { code: string } };
  expect([response.status, error.code]).toEqual([503, 'outcome_unknown']);
  expect(second.requests).toEqual([]);
});

const KEYED: Change[] = [
  { method: 'POST', path: '/v1/tasks', body: '[{"type":"a"},{"dedupeKey":"k"}]' },
  { method: 'POST', path: '/v1/tasks', body: '{"dedupeKey":"k","onDuplicate":"replace"}' },
  { method: 'POST', path: '/v1/runs', body: '{"workflow":"a"}' },
].map((change) => ({ ...change, headers: { 'idempotency-key': 'k' } }));

test.each([
  [KEYED[0], true, 200],
  // Every owner of a lower level might be the next one, and does not know the key.
  [KEYED[0], false, 503],
  [KEYED[1], true, 503],
  [KEYED[2], true, 503],
])('%j, keys of requests known: %j: %j', async (change, isKnown, status) => {
  const { url } = await dyingOwner(undefined, () => isKnown);

  const { path, ...init } = change;

  expect((await fetch(url + path, init)).status).toBe(status);
});

test('a request that stops every owner is not repeated for ever', async () => {
  const owners: FakeOwner[] = [];
  for (let i = 0; i < 5; i += 1) {
    const owner = await FakeOwner.start(cleanup, (request) => request.socket.resetAndDestroy());
    owners.push(owner);
  }
  const alive = () => owners.find(({ requests }) => requests.length === 0)?.place;
  const { url } = await startForwarder(cleanup, alive);

  const response = await fetch(`${url}/v1/tasks`);

  expect(response.status).toBe(503);
  expect(owners.filter(({ requests }) => requests.length > 0)).toHaveLength(3);
});

test('what could not be sent is sent to the next owner, whatever it is', async () => {
  const { first, second } = await dyingOwner();
  await first.kill();
  let looks = 0;
  const look = () => {
    looks += 1;
    return looks < 3 ? first.place : second.place;
  };
  const { url } = await startForwarder(cleanup, look);

  const response = await fetch(`${url}/v1/tasks/t_1/cancel`, { method: 'POST' });

  expect(await response.text()).toBe('second: ');
});

const HALF = 'x'.repeat(1000);

/** Sends half of an answer and then breaks. */
const breakInTheMiddle: RequestListener = (request, response) => {
  if (request.url !== '/v1/backup') response.setHeader('content-length', HALF.length * 2);
  response.write(HALF, () => request.socket.resetAndDestroy());
};

test.each([
  ['with a length', '/v1/tasks'],
  ['without one', '/v1/backup'],
])('an answer %s that breaks off is broken for the client, too (L10)', async (_, path) => {
  const { url, second } = await dyingOwner(breakInTheMiddle);
  const request = httpRequest(url + path).end();
  const [answer] = await once(request, 'response');
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });

  const [error] = await once(answer, 'error');

  expect(error).toMatchObject({ code: 'ECONNRESET' });
  expect([answer.statusCode, answer.complete, bytes]).toEqual([200, false, HALF.length]);
  expect(second.requests).toEqual([]);
});

test.each(['/v1/tasks', '/v1/backup'])('the HTTP/2 stream of %s is reset (L10)', async (path) => {
  const { url } = await dyingOwner(breakInTheMiddle);

  await expect(askHttp2(url, { ':path': path })).rejects.toThrow(/NGHTTP2_INTERNAL_ERROR/);
});

test('a server that stops passes on what it holds before it refuses the rest', async () => {
  const owner = await FakeOwner.start(cleanup, (_request, response) => response.end('next'));
  let place: OwnerPlace | undefined;
  const { url, forwarder } = await startForwarder(cleanup, () => place);
  const asking = fetch(`${url}/v1/tasks`, { method: 'POST', body: '{"type":"a"}' });
  await vi.waitFor(() => expect(forwarder.isHolding).toBe(true), WAIT);

  const passed = forwarder.passedOn();
  place = owner.place;
  await passed;

  expect(await (await asking).text()).toBe('next');
  await forwarder.close();
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(503);
});

test('a client that goes away ends its request at the owner', async () => {
  const owner = await FakeOwner.start(cleanup, () => undefined);
  const { url } = await startForwarder(cleanup, () => owner.place);
  const gone = new AbortController();
  const answer = fetch(`${url}/v1/tasks/t_1/wait`, { signal: gone.signal });
  await vi.waitUntil(() => owner.requests.length === 1, WAIT);

  gone.abort();

  await expect(answer).rejects.toThrow();
  const isGone = () => owner.requests[0].destroyed && owner.connections === 0;
  await vi.waitUntil(isGone, WAIT);
});

test('a change is executed once at most, and exactly once if the client was told so', async () => {
  const executed = new Map<string, number>();
  let owner: FakeOwner | undefined;
  const startOwner = async (): Promise<void> => {
    owner = await FakeOwner.start(cleanup, async (request, response) => {
      const name = await textOf(request).catch(() => undefined);
      if (name === undefined) return;
      executed.set(name, (executed.get(name) ?? 0) + 1);
      // Half of the answers are late enough to be lost with their owner.
      if (executed.size % 2 === 0) response.end();
      else setImmediate(() => response.end());
    });
  };
  await startOwner();
  const { url } = await startForwarder(cleanup, () => owner?.place);
  const told = new Map<string, number>();
  let isOver = false;
  const client = async (name: number): Promise<void> => {
    for (let i = 0; i < 40; i += 1) {
      const body = `${name}-${i}`;
      const { status } = await fetch(`${url}/v1/tasks`, { method: 'POST', body });
      told.set(body, status);
    }
  };
  const killing = (async () => {
    while (!isOver) {
      const before = executed.size;
      await vi.waitUntil(() => isOver || executed.size > before + 20, WAIT);
      const killed = owner;
      owner = undefined;
      await killed?.kill();
      await startOwner();
    }
  })();

  await Promise.all(Array.from({ length: 20 }, (_, name) => client(name)));
  isOver = true;
  await killing;

  const answered = [...told].filter(([, status]) => status === 200);
  expect([...executed.values()].filter((times) => times > 1)).toEqual([]);
  expect(answered.filter(([name]) => executed.get(name) !== 1)).toEqual([]);
  expect(new Set(told.values())).toEqual(new Set([200, 503]));
  expect(answered.length).toBeGreaterThan(400);
});
