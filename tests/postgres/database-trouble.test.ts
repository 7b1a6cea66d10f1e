import { fillDisk, freeDisk } from '@sluice/postgres/testing/full-disk';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { slowDown } from '@sluice/postgres/testing/slow-database';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { largeJson, sha256Of } from '../e2e/blob-client.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;

let database: PostgresServer;
let store: TempStore;
let cluster: ClusterProcesses;
let client: Sluice;

beforeEach(async () => {
  database = await PostgresServer.start({ max_connections: '40' });
  store = await TempStore.create(database.address);
  cluster = await ClusterProcesses.start(store.text, 1);
  client = new Sluice({ url: cluster.servers[0].url });
});

afterEach(async () => {
  await client.close();
  await cluster.dispose();
  await store.dispose();
  await database.stop();
});

test('a database that is shut down and started again is waited for', async () => {
  const before = await client.submit('mail', 0);
  const touched = await client.submit('mail', 0);
  await database.kill();
  const cancelling = client.tasks.cancel(touched.id);
  const submitting = client.submit('mail', 1);
  await cluster.servers[0].printed(/the database does not answer/);
  await waitUntil(async () => (await submitted()).status === 503, {
    what: 'submits are refused',
    timeoutMs: TIMEOUT_MS,
  });
  const refused = await submitted();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.text()).toContain('the database does not answer; nothing was submitted');
  const read = () => fetch(`${cluster.servers[0].url}/v1/tasks/${touched.id}`);
  await waitUntil(async () => (await read()).status === 503, {
    what: 'what the waiting commit changed is not shown',
    timeoutMs: TIMEOUT_MS,
  });

  await database.resume();

  await cancelling;
  expect(await (await read()).json()).toMatchObject({ state: 'cancelled' });
  expect(await client.tasks.get((await submitting).id)).toMatchObject({ state: 'queued' });
  expect(await client.tasks.get(before.id)).toMatchObject({ state: 'queued' });
  // The session of the fixture ended with the database.
  store = await TempStore.create(database.address);
});

/** The answer to a submit without the SDK; one that never comes is status 0. */
async function submitted(): Promise<Response> {
  const body = JSON.stringify({ type: 'mail', input: 2 });
  const signal = AbortSignal.timeout(1000);
  const asked = fetch(`${cluster.servers[0].url}/v1/tasks`, { method: 'POST', body, signal });
  return asked.catch(() => Response.error());
}

test('a database that became read-only is waited for', async () => {
  const before = await client.submit('mail', 0);
  await setForAll('default_transaction_read_only', 'on');
  const submitting = client.submit('mail', 1);
  await cluster.servers[0].printed(/the database does not answer.*read-only/s);
  expect((await fetch(`${cluster.servers[0].url}/health/live`)).status).toBe(200);

  await setForAll('default_transaction_read_only', 'off');

  expect(await client.tasks.get((await submitting).id)).toMatchObject({ state: 'queued' });
  expect(await client.tasks.get(before.id)).toMatchObject({ state: 'queued' });
});

test('a server whose connections others have taken goes on when there is room', async () => {
  const before = await client.submit('mail', 0);
  const others = await takeConnections();
  const shutOut = async () => {
    await store.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'sluice %'`);
    others.push(...(await takeConnections()));
    return cluster.servers[0].lastOutput.includes('too many clients');
  };
  await waitUntil(shutOut, { what: 'the server finds no connection', timeoutMs: TIMEOUT_MS });
  const submitting = client.submit('mail', 1);

  for (const session of others) await session.end();

  expect(await client.tasks.get((await submitting).id)).toMatchObject({ state: 'queued' });
  expect(await client.tasks.get(before.id)).toMatchObject({ state: 'queued' });
});

test('a slow database makes answers slow, and nobody takes over', async () => {
  await cluster.add();
  const owner = await cluster.owner();
  const { rows: before } = await store.query('SELECT epoch FROM $schema.hold');
  await slowDown(store, '700ms');

  const tasks = await Promise.all(Array.from({ length: 30 }, (_, n) => client.submit('mail', n)));
  for (const task of tasks.slice(0, 10)) await client.tasks.cancel(task.id);

  expect(await cluster.owner()).toBe(owner);
  expect((await store.query('SELECT epoch FROM $schema.hold')).rows).toEqual(before);
  await listed(20, { state: 'queued' });
});

test('rows that cannot be written delay lists alone', async () => {
  const first = await client.submit('mail', 0);
  await client.tasks.cancel(first.id);
  const table = await dayTable();
  const blocker = await store.connect();
  await blocker.query('BEGIN');
  await blocker.query(`LOCK TABLE ${store.address.schema}.${table}`);

  const second = await client.submit('mail', 1);
  await client.tasks.cancel(second.id);
  const third = await client.submit('mail', 2);
  expect(await client.tasks.get(second.id)).toMatchObject({ state: 'cancelled' });
  expect(await client.tasks.get(third.id)).toMatchObject({ state: 'queued' });
  const early = await ageOfLists();
  expect(await ageOfLists(early)).toBeGreaterThan(early);
  await blocker.query('ROLLBACK');
  await blocker.end();

  await listed(3, { type: 'mail' });
});

/** How old lists are, in ms, once it is more than `least`. Something is submitted meanwhile. */
async function ageOfLists(least = 0): Promise<number> {
  let lagMs = 0;
  const isOlder = async () => {
    await client.submit('more', 0);
    const answer = await fetch(`${cluster.servers[0].url}/v1/cluster`);
    ({ lagMs } = ((await answer.json()) as { projection: { lagMs: number } }).projection);
    return lagMs > least;
  };
  await waitUntil(isOlder, { what: 'lists are older', timeoutMs: TIMEOUT_MS });
  return lagMs;
}

test('a blob that cannot be written is refused, and small tasks are taken', async () => {
  const [{ url }] = cluster.servers;
  const content = largeJson(2 ** 20);
  const sha256 = sha256Of(content);
  const put = () => fetch(`${url}/v1/blobs/${sha256}`, { method: 'PUT', body: content });
  const blocker = await store.connect();
  await blocker.query('BEGIN');
  await blocker.query(`LOCK TABLE ${store.address.schema}.blob_piece`);

  const refused = await put();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await submitted()).status).toBe(201);
  await blocker.query('ROLLBACK');
  await blocker.end();

  expect((await put()).status).toBe(200);
  const stored = await fetch(`${url}/v1/blobs/${sha256}`);
  expect(sha256Of(Buffer.from(await stored.arrayBuffer()))).toBe(sha256);
});

/** The table with the rows of today's tasks, once it is there. */
async function dayTable(): Promise<string> {
  let found: { name: string }[] = [];
  const isThere = async () => {
    const { rows } = await store.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename ~ '^task_0_2'`,
      [store.address.schema],
    );
    found = [...rows];
    return found.length > 0;
  };
  await waitUntil(isThere, { what: 'the table of today is there', timeoutMs: TIMEOUT_MS });
  return found[0].name;
}

async function listed(count: number, query: { state?: 'queued'; type?: string }): Promise<void> {
  const isListed = async () => {
    let found = 0;
    for await (const _ of client.tasks.list(query)) found += 1;
    return found === count;
  };
  await waitUntil(isListed, { what: `${count} tasks are listed`, timeoutMs: TIMEOUT_MS });
}

/** For every session, also those that are open. */
async function setForAll(name: string, value: string): Promise<void> {
  await store.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  await store.query('SELECT pg_reload_conf()');
}

/** Opens sessions until the database refuses one. */
async function takeConnections() {
  const taken: Awaited<ReturnType<TempStore['connect']>>[] = [];
  for (;;) {
    const session = await store.connect().catch(() => undefined);
    if (session === undefined) return taken;
    taken.push(session);
  }
}

test('a full database refuses submits, and takes them again by itself', async () => {
  const { url } = cluster.servers[0];
  /** 0 when there is no answer for a while. */
  const submit = async (timeoutMs = 1000) => {
    const body = JSON.stringify({ type: 'mail', input: 1 });
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = fetch(`${url}/v1/tasks`, { method: 'POST', body, signal });
    return answer.then(({ status }) => status).catch(() => 0);
  };
  expect(await submit()).toBe(201);

  await fillDisk(store);
  // The first one waits for room; the server knows then.
  const waiting = submit(TIMEOUT_MS);
  await waitUntil(async () => (await submit()) === 507, {
    what: 'submits are refused',
    timeoutMs: TIMEOUT_MS,
  });
  await freeDisk(store);

  expect(await waiting).toBe(201);
  await waitUntil(async () => (await submit()) === 201, {
    what: 'submits are taken',
    timeoutMs: TIMEOUT_MS,
  });
});
