import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { NodeTransport } from './node-transport.ts';

const WAIT = { timeout: 20_000 };

const opened: Server[] = [];
let transport: NodeTransport;

afterEach(() => {
  transport.close();
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Place {
  readonly url: string;
  readonly server: Server;
  /** Paths of requests, and whether they had the key. */
  readonly seen: string[];
}

/** A server that says its role; `owner` is what it says in the header of every other answer. */
async function serverOf(role: 'owner' | 'standby', owner?: () => string): Promise<Place> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const hasKey = request.headers.authorization !== undefined;
    seen.push(`${request.url}${hasKey ? ' with key' : ''}`);
    if (request.url === '/health/role') {
      response.end(JSON.stringify({ runId: 'r', role }));
      return;
    }
    if (owner !== undefined) response.setHeader('sluice-owner', owner());
    if (request.url === '/silent') return;
    response.end('{}');
  });
  opened.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server, seen };
}

function connect(...addresses: string[]): void {
  transport = new NodeTransport({ addresses, headers: { authorization: 'Bearer slk_1' } });
}

function ask(path = '/x'): Promise<unknown> {
  return new Promise((resolve) => {
    transport.send({ address: 0, method: 'GET', path }, (answer) => resolve(answer?.status));
  });
}

async function askUntil(place: Place, count: number): Promise<void> {
  await vi.waitFor(async () => {
    await ask();
    expect(place.seen.filter((path) => path.startsWith('/x')).length).toBeGreaterThanOrEqual(count);
  }, WAIT);
}

test('once the owner is named and answers, requests go to it directly', async () => {
  const owner = await serverOf('owner');
  const standby = await serverOf('standby', () => owner.url);
  connect(standby.url);

  await askUntil(owner, 1);
  const before = standby.seen.length;
  await ask();

  expect(standby.seen).toHaveLength(before);
  expect(owner.seen[0]).toBe('/health/role');
});

test('a client that does not follow the owner keeps to its address', async () => {
  const owner = await serverOf('owner');
  const standby = await serverOf('standby', () => owner.url);
  const headers = { authorization: 'Bearer slk_1' };
  transport = new NodeTransport({ addresses: [standby.url], headers, followsOwner: false });

  await ask();
  await ask();

  expect(standby.seen).toHaveLength(2);
  expect(owner.seen).toEqual([]);
});

test('an owner that is gone is left for the configured address at once', async () => {
  const owner = await serverOf('owner');
  const standby = await serverOf('standby', () => owner.url);
  connect(standby.url);
  await askUntil(owner, 1);

  owner.server.closeAllConnections();
  owner.server.close();
  const failed = await ask();

  expect(failed).toBe(undefined);
  expect(await ask()).toBe(200);
  expect(standby.seen.at(-1)).toBe('/x with key');
});

test('an owner that does not answer in time is left, too', async () => {
  const owner = await serverOf('owner');
  const standby = await serverOf('standby', () => owner.url);
  connect(standby.url);
  await askUntil(owner, 1);
  const before = standby.seen.length;

  const cancel = transport.send({ address: 0, method: 'GET', path: '/silent' }, () => undefined);
  await vi.waitFor(() => expect(owner.seen).toContain('/silent with key'), WAIT);
  cancel();
  await ask();

  expect(standby.seen.length).toBeGreaterThan(before);
});

test('after a hand-off the former owner names the new one', async () => {
  const next = await serverOf('owner');
  const former = await serverOf('owner', () => next.url);
  const standby = await serverOf('standby', () => former.url);
  connect(standby.url);

  await askUntil(next, 1);

  expect(former.seen).toContain('/x with key');
});

test('what is no owner never gets the key', async () => {
  const other = await serverOf('standby');
  const standby = await serverOf('standby', () => other.url);
  connect(standby.url);

  await ask();
  await vi.waitFor(() => expect(other.seen).toEqual(['/health/role']), WAIT);
  await ask();

  expect(other.seen).toEqual(['/health/role']);
  expect(standby.seen.filter((path) => path === '/x with key')).toHaveLength(2);
});

test.each(['nonsense', 'file:///etc/passwd', 'http://'])('%s is no owner', async (text) => {
  const standby = await serverOf('standby', () => text);
  connect(standby.url);

  expect(await ask()).toBe(200);
  expect(await ask()).toBe(200);
});
