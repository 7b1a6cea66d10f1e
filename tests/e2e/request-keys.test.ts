import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { LosingProxy } from './losing-proxy.ts';

let folder: string;
let server: ServerProcess;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await start();
});

afterEach(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(...flags: string[]): Promise<void> {
  server = await ServerProcess.startServer(folder, ...flags);
}

async function restart(...flags: string[]): Promise<void> {
  await server.kill();
  await start(...flags);
}

interface Item {
  readonly id: string;
  readonly state: string;
  readonly deduplicated: boolean;
}

interface Submitted {
  readonly status: number;
  readonly confirmed: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  readonly body: any;
}

async function submit(
  tasks: unknown,
  headers: Record<string, string> = { 'idempotency-key': 'k' },
  query = '',
): Promise<Submitted> {
  const body = typeof tasks === 'string' ? tasks : JSON.stringify(tasks);
  const answer = await fetch(`${server.url}/v1/tasks${query}`, { method: 'POST', body, headers });
  const confirmed = answer.headers.get('idempotency-key');
  return { status: answer.status, confirmed, body: await answer.json() };
}

async function stored(): Promise<number> {
  const answer = await fetch(`${server.url}/v1/cluster`);
  const { quotas } = (await answer.json()) as { quotas: { tasksMax: { used: number } } };
  return quotas.tasksMax.used;
}

async function keysUsed(): Promise<number> {
  const answer = await fetch(`${server.url}/v1/cluster`);
  const { quotas } = (await answer.json()) as { quotas: { dedupeKeysMax: { used: number } } };
  return quotas.dedupeKeysMax.used;
}

const idsOf = ({ body }: Submitted) => body.items.map(({ id }: Item) => id);

const THREE = [
  { type: 'a', input: 1 },
  { type: 'b', priority: 7 },
  { type: 'a', input: 1 },
];

test('a request that comes again gives the same tasks, also after a kill', async () => {
  const first = await submit(THREE);
  expect([first.status, first.confirmed]).toEqual([201, 'k']);
  expect(first.body.items).toMatchObject(Array(3).fill({ deduplicated: false }));
  expect(await keysUsed()).toBe(1);

  const again = await submit(THREE);
  await restart();
  const later = await submit(THREE);

  for (const { status, confirmed, body } of [again, later]) {
    expect([status, confirmed]).toEqual([201, 'k']);
    expect(body.items).toEqual(
      first.body.items.map((item: Item) => ({ ...item, deduplicated: true })),
    );
  }
  expect(new Set(idsOf(first)).size).toBe(3);
  expect(await stored()).toBe(3);
});

test('the same request twice at the same time is one', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(THREE)));

  expect(new Set(answers.map((each) => idsOf(each).join())).size).toBe(1);
  expect(await stored()).toBe(3);
});

test('the key with another body is refused, and names the first task', async () => {
  const first = await submit(THREE);

  const { status, confirmed, body } = await submit([{ type: 'c' }]);

  expect([status, body.error.code, confirmed]).toEqual([409, 'dedupe_mismatch', null]);
  const [id] = idsOf(first);
  const problem = `was used for a request with another body that submitted task ${id}`;
  expect(body.error.details).toEqual([{ path: '/idempotency-key', problem }]);
  expect(await stored()).toBe(3);
});

test('a single task with a key is 201, then 200', async () => {
  const first = await submit({ type: 'a' });
  const again = await submit({ type: 'a' });

  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual({ ...first.body, deduplicated: true });
});

test('a repeated request may wait for its task', async () => {
  const first = await submit({ type: 'a' });
  const waiting = submit({ type: 'a' }, { 'idempotency-key': 'k' }, '?waitMs=30000');

  const sluice = new Sluice({ url: server.url });
  const worker = await sluice.work([defineTask({ type: 'a', run: async () => 5 })]);

  expect((await waiting).body).toMatchObject({ id: first.body.id, state: 'succeeded', output: 5 });
  await worker.stop();
  await sluice.close();
});

test('beside tasks with dedupe keys the others are known by the key of the request', async () => {
  await submit({ type: 'a', dedupeKey: 'mine' }, {});
  const mixed = [{ type: 'b' }, { type: 'a', dedupeKey: 'mine' }, { type: 'b' }];

  const first = await submit(mixed);
  const again = await submit(mixed);
  const other = await submit([{ type: 'b' }, { type: 'a', dedupeKey: 'mine', priority: 1 }]);

  expect(first.body.items.map(({ deduplicated }: Item) => deduplicated)).toEqual([
    false,
    true,
    false,
  ]);
  expect(idsOf(again)).toEqual(idsOf(first));
  expect(other.body.error).toMatchObject({ code: 'dedupe_mismatch' });
  expect(other.body.error.details[0].path).toBe('/idempotency-key');
  expect(await stored()).toBe(3);
});

test('the states of tasks that left memory come from their records', async () => {
  await restart('--limits-finished-tasks-max', '2');
  const tasks = [{ type: 'a' }, { type: 'a' }, { type: 'stays' }];
  const first = await submit(tasks);
  const [, second] = idsOf(first);
  await fetch(`${server.url}/v1/tasks/${second}/cancel`, { method: 'POST' });
  const sluice = new Sluice({ url: server.url, onWarning: () => undefined });
  const worker = await sluice.work([defineTask({ type: 'a', run: async () => 5 })]);
  const areGone = async () => {
    await (await sluice.submit('a', 1)).result();
    const metrics = await (await fetch(`${server.ownerUrl}/metrics`)).text();
    return Number(/^sluice_tasks_finished (\d+)$/m.exec(metrics)?.[1]) <= 4;
  };
  for (let n = 0; n < 5; n++) await areGone();
  await waitUntil(areGone, { what: 'they have left memory', timeoutMs: 30_000 });

  const again = await submit(tasks);
  await worker.stop();
  await sluice.close();
  await restart();
  const later = await submit(tasks);

  for (const { body } of [again, later]) {
    const states = body.items.map(({ state }: Item) => state);
    expect(states).toEqual(['succeeded', 'cancelled', 'queued']);
  }
  expect([again, later].map(idsOf)).toEqual([idsOf(first), idsOf(first)]);
});

test.each([
  [{ 'idempotency-key': 'two words' }, '/idempotency-key'],
  [{ 'idempotency-key': 'k', 'idempotency-window-ms': '1' }, '/idempotency-window-ms'],
  [{ 'idempotency-key': 'k', 'idempotency-window-ms': 'soon' }, '/idempotency-window-ms'],
  [{ 'idempotency-window-ms': '5000' }, '/idempotency-key'],
])('headers %j are refused at %s, and nothing is stored', async (headers, path) => {
  const { status, body } = await submit(THREE, headers as unknown as Record<string, string>);

  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  expect(await stored()).toBe(0);
});

test('the SDK stores each task once, with one key for a request', async () => {
  let posts = 0;
  const isEverySecond = ({ method }: IncomingMessage) => method === 'POST' && posts++ % 2 === 1;
  const proxy = new LosingProxy(() => server.url, isEverySecond);
  const sluice = new Sluice({ url: await proxy.start(), onWarning: () => undefined });
  const ids = [(await sluice.submit('a', 0)).id];

  for (let round = 1; round <= 10; round++) {
    const inputs = Array.from({ length: 50 }, (_, n) => [round, n]);
    ids.push(...(await sluice.submitMany('a', inputs)).map(({ id }) => id));
  }

  expect(new Set(ids).size).toBe(501);
  expect(await stored()).toBe(501);
  // The first request asked whether the server knows keys of requests.
  expect(await keysUsed()).toBe(11);
  expect(proxy.bodies.filter((body) => body.includes('dedupeKey'))).toHaveLength(1);
  expect(proxy.bodies.length).toBeGreaterThan(15);
  await sluice.close();
  proxy.stop();
});
