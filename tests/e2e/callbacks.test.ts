import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CallbackReceiver } from '../support/callback-receiver.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const MOVED_CLOCK = new URL('../support/moved-clock.ts', import.meta.url).href;
const HOUR_MS = 3_600_000;
const SECRET = randomBytes(24).toString('base64');
const ENDS = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];
const WAIT_MS = 20_000;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let receiver: CallbackReceiver;
const others: (CallbackReceiver | Server)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-callbacks-'));
  receiver = await CallbackReceiver.start(SECRET);
  await start();
});

afterEach(async () => {
  await kill();
  await receiver.close();
  for (const other of others.splice(0)) await other.close();
  await rm(folder, { recursive: true });
});

/** Starts the server with its clock `aheadMs` ahead. */
async function start(aheadMs = 0): Promise<void> {
  server = await ServerProcess.startDev(folder, {
    NODE_OPTIONS: `--import=${MOVED_CLOCK}`,
    SLUICE_TEST_CLOCK_AHEAD_MS: String(aheadMs),
  });
  api = new ApiClient(server.url, 'http1');
}

async function kill(): Promise<void> {
  api.close();
  await server.kill();
}

async function restart(aheadMs = 0): Promise<void> {
  await kill();
  await start(aheadMs);
}

describe('what is told', () => {
  test('a task that runs and succeeds is told of in order, signed, with the task', async () => {
    const { id, sessionId, lease, close } = await leased(['running', 'succeeded']);

    await api.report(sessionId, [{ lease, kind: 'started' }]);
    await heard(1);
    await api.report(sessionId, [{ lease, kind: 'succeeded', output: { n: 7 } }]);
    await heard(2);
    close();

    const [running, succeeded] = receiver.received;
    expect(running).toMatchObject({ type: 'task.running', isSigned: true });
    expect(running.task).toMatchObject({ id, state: 'running', output: null });
    expect(succeeded).toMatchObject({ type: 'task.succeeded', isSigned: true });
    expect(succeeded.task).toMatchObject({ id, state: 'succeeded', output: { n: 7 } });
    expect(succeeded.at).toBe(succeeded.task.endedAt);
    expect(running.id).not.toBe(succeeded.id);
    expect(JSON.stringify(receiver.received)).not.toContain(SECRET);
    const { body } = await api.get(`/v1/tasks/${id}`);
    expect(succeeded.task).toEqual(body);
  });

  test('a task that nobody ever had is told of when it is cancelled, and once', async () => {
    const id = await submitted();

    await api.post(`/v1/tasks/${id}/cancel`);
    await heard(1);
    await api.post(`/v1/tasks/${id}/cancel`);
    await restart();
    const other = await submitted();
    await api.post(`/v1/tasks/${other}/cancel`);
    await heard(2);

    expect(receiver.of(id)).toMatchObject([{ type: 'task.cancelled', isSigned: true }]);
  });

  test('nothing is signed without a secret', async () => {
    const callback = { url: receiver.url, on: ENDS };
    const { body } = await api.post('/v1/tasks', { type: 'x', callback });

    await api.post(`/v1/tasks/${body.id}/complete`, { output: null });
    await heard(1);

    expect(receiver.received[0].headers).not.toHaveProperty('webhook-signature');
  });

  test('mistakes are named when the task is submitted', async () => {
    const problems = async (callback: object) => {
      const { status, body } = await api.post('/v1/tasks', { type: 'x', callback });
      return [status, body.error.details[0].path];
    };
    const on = ['failed'];
    const url = 'https://example.com/';

    expect(await problems({ url: 'ftp://x', on })).toEqual([400, '/callback/url']);
    expect(await problems({ url: 'http://', on })).toEqual([400, '/callback/url']);
    expect(await problems({ url: 'http://a:b@x/', on })).toEqual([400, '/callback/url']);
    expect(await problems({ url: 'http://1.2.3.4.5.256/', on })).toEqual([400, '/callback/url']);
    expect(await problems({ url, on: ['lost'] })).toEqual([400, '/callback/on/0']);
    expect(await problems({ url, on, secret: 'short' })).toEqual([400, '/callback/secret']);
    expect(await problems({ url, on, secret: `whsec_${SECRET}!` })).toEqual([
      400,
      '/callback/secret',
    ]);
  });
});

describe('receivers that fail', () => {
  test('one that was down gets everything when it is back, in order, under its ids', async () => {
    const { port } = receiver;
    receiver.answer = (response) => response.writeHead(503).end();
    const { id, sessionId, lease, close } = await leased(['running', ...ENDS]);
    await api.report(sessionId, [{ lease, kind: 'started' }]);
    await heard(1);
    await receiver.close();
    await api.report(sessionId, [{ lease, kind: 'succeeded' }]);
    close();
    const firstId = receiver.received[0].id;
    receiver = await CallbackReceiver.start(SECRET, port);

    await restart(HOUR_MS);
    await heard(2);

    expect(receiver.of(id).map(({ type }) => type)).toEqual(['task.running', 'task.succeeded']);
    expect(receiver.received[0].id).toBe(firstId);
    expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true);
  });

  test('one that answers with nonsense, or not at all, holds up no other', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    const nonsense = createServer((socket) => {
      socket.on('error', () => undefined).end('nonsense\r\n\r\n');
    }).listen(0, '127.0.0.1');
    others.push(silent, nonsense);
    for (const bad of [silent, nonsense]) {
      if (!bad.listening) await once(bad, 'listening');
      const { port } = bad.address() as { port: number };
      await Promise.all(
        Array.from({ length: 40 }, () => ended({ url: `http://127.0.0.1:${port}/` })),
      );
    }

    const ids = await Promise.all(Array.from({ length: 40 }, () => ended()));
    await heard(40);

    expect(new Set(receiver.received.map(({ task }) => task.id))).toEqual(new Set(ids));
  });

  test('one that is gone is not called again', async () => {
    receiver.answer = (response) => response.writeHead(410).end();
    await ended();
    await heard(1);
    await metric('sluice_callbacks_given_up', 1);

    await restart(HOUR_MS);
    receiver.answer = (response) => response.end();
    const id = await ended();
    await heard(2);

    expect(receiver.received[1].task.id).toBe(id);
  });

  test('one that was away for 24 hours is given up', async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    const recorded = 'sluice_callbacks_total{outcome="failed"}';
    await ended();
    await metric(recorded, 1);
    await restart(23 * HOUR_MS);
    await metric(recorded, 1);
    await metric('sluice_callbacks_pending', 1);

    await restart(25 * HOUR_MS);
    await metric('sluice_callbacks_given_up', 1);

    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  });
});

describe('where it goes', () => {
  test('a server that is not for development does not call this machine', async () => {
    await kill();
    server = await ServerProcess.startServer(folder);
    api = new ApiClient(server.url, 'http1');

    await ended();
    await metric('sluice_callbacks_given_up', 1);

    expect(receiver.received).toEqual([]);
  });
});

describe('what is seen', () => {
  test('one that nobody took is listed, says why, and can be delivered again', async () => {
    receiver.answer = (response) => response.writeHead(410).end();
    const id = await ended();
    await metric('sluice_callbacks_given_up', 1);

    const { body: listed } = await api.get('/v1/callbacks?state=given_up');
    receiver.answer = (response) => response.end();
    const { body: reply } = await api.post('/v1/callbacks/redeliver', {
      ids: [listed.items[0].id, 'c_000000000v'],
    });
    await heard(2);
    await metric('sluice_callbacks_total{outcome="delivered"}', 1);

    expect(listed.items).toMatchObject([
      { taskId: id, type: 'task.succeeded', url: receiver.url, state: 'given_up', tries: 1 },
    ]);
    expect(listed.items[0]).toMatchObject({ status: 410, failure: 'gone', nextAt: null });
    expect(reply).toEqual({ redelivered: 1, unknown: ['c_000000000v'] });
    expect((await api.get('/v1/callbacks')).body.items).toEqual([]);
    const { body: log } = await api.get(`/v1/tasks/${id}/callbacks`);
    expect(log.items.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'given_up',
      'redelivered',
      'delivered',
    ]);
    expect(new Set(log.items.map((each: { id: string }) => each.id)).size).toBe(1);
    expect(log.items[2]).toMatchObject({ type: 'task.succeeded', status: 200, failure: null });
    const { body: audit } = await api.get('/v1/audit');
    expect(audit.items[0]).toMatchObject({ action: 'callbacks_redelivered' });
  });

  test('the command line lists them, tells what became of them, and tries again', async () => {
    const sluice = async (...args: string[]) => {
      return runSluice(['callback', ...args], { SLUICE_URL: server.url });
    };
    receiver.answer = (response) => response.writeHead(410).end();
    const taskId = await ended();
    await metric('sluice_callbacks_given_up', 1);

    const listed = await sluice('list', '--given-up');
    const [{ id }] = JSON.parse((await sluice('list', '--json')).stdout).items;
    const neither = await sluice('redeliver');
    receiver.answer = (response) => response.end();
    const again = await sluice('redeliver', id);
    await metric('sluice_callbacks_total{outcome="delivered"}', 1);
    const late = await sluice('redeliver', id);
    const log = await sluice('log', taskId);

    expect(listed.stdout).toMatch(/task\.succeeded .* given_up +1 +gone 410 +http/);
    expect([neither.code, again.code, late.code]).toEqual([2, 0, 1]);
    expect(late.stderr).toContain(`unknown, or already delivered: ${id}`);
    expect(log.stdout).toMatch(/given_up +410 +gone.*redelivered.*delivered +200/s);
  });

  test('those that wait are listed page by page, and all that were given up go again', async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await ended());
    await metric('sluice_callbacks_total{outcome="failed"}', 3);

    const { body: first } = await api.get('/v1/callbacks?limit=2');
    const { body: second } = await api.get(`/v1/callbacks?limit=2&cursor=${first.nextCursor}`);
    const { body: none } = await api.get('/v1/callbacks?state=given_up');
    const { body: nothing } = await api.post('/v1/callbacks/redeliver');
    const { status } = await api.get('/v1/callbacks?cursor=nonsense');

    const items = [...first.items, ...second.items];
    expect(items.map(({ taskId }) => taskId)).toEqual(ids);
    expect(items[0]).toMatchObject({ state: 'pending', failure: 'answered_with_error' });
    expect(second.nextCursor).toBeNull();
    expect(none.items).toEqual([]);
    expect(nothing).toEqual({ redelivered: 0, unknown: [] });
    expect(status).toBe(400);
    expect(JSON.stringify(items)).not.toContain(SECRET);
  });
});

test('a server killed during deliveries makes each of them, and no other', async () => {
  receiver.answer = (response) => setTimeout(() => response.end(), 20);
  const ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    const heardBefore = receiver.received.length;
    const posts = Promise.allSettled(Array.from({ length: 60 }, () => ended()));
    await heard(heardBefore + 10);
    await restart();
    const outcomes = await posts;
    ids.push(...outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])));
  }

  const known = () => new Set(receiver.received.map(({ task }) => task.id));
  await waitUntil(() => ids.every((id) => known().has(id)), {
    what: 'every task was told of',
    timeoutMs: WAIT_MS,
  });

  const idsOf = Map.groupBy(receiver.received, ({ task }) => task.id);
  for (const [id, tries] of idsOf) {
    const { body } = await api.get(`/v1/tasks/${id}`);
    expect(body.state).toBe('succeeded');
    expect(new Set(tries.map((each) => each.id)).size).toBe(1);
  }
}, 60_000);

test('a server that is told to stop finishes what is under way, and leaves the rest', async () => {
  const waiting: (() => void)[] = [];
  receiver.answer = (response) => waiting.push(() => response.end());
  await Promise.all(Array.from({ length: 20 }, () => ended()));
  await heard(8);

  server.signal('SIGTERM');
  await server.printed(/stopping/);
  for (const answer of waiting.splice(0)) answer();
  await server.exited();
  const heardBefore = receiver.received.length;
  receiver.answer = (response) => response.end();
  await start();
  await metric('sluice_callbacks_pending', 0);

  expect(heardBefore).toBe(8);
  expect(receiver.received).toHaveLength(20);
});

/** A task with a callback that a worker holds. */
async function leased(on: readonly string[]) {
  const session = new SessionUnderTest(server.url, 'http1', { types: [{ type: 'x' }] });
  const { sessionId } = await session.welcomed();
  const id = await submitted({ on });
  const { lease } = await session.takeTask();
  return { id, sessionId, lease, close: () => session.disconnect() };
}

async function submitted(more: object = {}): Promise<string> {
  const callback = { url: receiver.url, on: ENDS, secret: `whsec_${SECRET}`, ...more };
  const { body } = await api.post('/v1/tasks', { type: 'x', callback });
  return body.id;
}

/** A task with a callback that has ended. */
async function ended(more: object = {}): Promise<string> {
  const id = await submitted(more);
  await api.post(`/v1/tasks/${id}/complete`, { output: 1 });
  return id;
}

function heard(count: number): Promise<void> {
  const what = `${count} callbacks arrived`;
  return waitUntil(() => receiver.received.length >= count, { what, timeoutMs: WAIT_MS });
}

async function metric(name: string, value: number): Promise<void> {
  const what = `${name} is ${value}`;
  await waitUntil(
    async () => {
      const page = await (await fetch(`${server.url}/metrics`)).text();
      return page.includes(`\n${name} ${value}\n`);
    },
    { what, timeoutMs: WAIT_MS },
  );
}
