import { fillDisk, freeDisk } from '@sluice/postgres/testing/full-disk';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  await database.kill();
  const submitting = client.submit('mail', 1);
  await cluster.servers[0].printed(/the database does not answer/);

  await database.resume();

  expect(await client.tasks.get((await submitting).id)).toMatchObject({ state: 'queued' });
  expect(await client.tasks.get(before.id)).toMatchObject({ state: 'queued' });
  // The session of the fixture ended with the database.
  store = await TempStore.create(database.address);
});

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
