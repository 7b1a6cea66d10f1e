/** A real disk that is full, below the tables of a store. */
import { SmallDisk } from '@sluice/log/testing/tmpfs-fixture';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
/** Longer than the disk is full. */
const LEASE_MS = 300_000;
const DISK_BYTES = 48 * 2 ** 20;

let disk: SmallDisk;
let database: PostgresServer;
let store: TempStore;
let cluster: ClusterProcesses;

beforeEach(async () => {
  disk = await SmallDisk.mount(DISK_BYTES);
  database = await PostgresServer.start();
  const admin = await TempStore.connectTo(database.address);
  await admin.query(`CREATE TABLESPACE small LOCATION '${PostgresServer.folderIn(disk.path)}'`);
  await admin.query(`ALTER DATABASE postgres SET default_tablespace = 'small'`);
  await admin.end();
  store = await TempStore.create(database.address);
  cluster = await ClusterProcesses.start(store.text, 1);
});

afterEach(async () => {
  await cluster.dispose();
  await store.dispose();
  await database.stop();
  await disk.unmount();
});

test('a report that was sent while the disk was full counts once there is room', async () => {
  const { url } = cluster.servers[0];
  const api = new ApiClient(url, 'http1');
  const session = new SessionUnderTest(url, 'http1', { types: [{ type: 'x' }], leaseMs: LEASE_MS });
  const { sessionId } = await session.welcomed();
  const { id } = (await api.post('/v1/tasks', { type: 'x' })).body;
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'started' }]);
  await disk.fill();
  const isRefused = async () => (await submit(url)).status === 507;
  await waitUntil(isRefused, { what: 'submits are refused', timeoutMs: TIMEOUT_MS });
  let isAnswered = false;
  const reporting = api.report(sessionId, [{ lease, kind: 'succeeded', output: 5 }]).finally(() => {
    isAnswered = true;
  });
  // The server has looked at later requests meanwhile.
  await waitUntil(isRefused, { what: 'submits are still refused', timeoutMs: TIMEOUT_MS });
  expect(isAnswered).toBe(false);
  await disk.free();

  expect(await reporting).toMatchObject({ status: 200 });
  const isDone = async () => (await api.get(`/v1/tasks/${id}`)).body.state === 'succeeded';
  await waitUntil(isDone, { what: 'the report counts', timeoutMs: TIMEOUT_MS });
  expect((await api.get(`/v1/tasks/${id}`)).body).toMatchObject({ output: 5, attempt: 1 });
  session.disconnect();
  api.close();
});

/** The answer to a large submit; an error when there is none for a while. */
async function submit(url: string, timeoutMs = 2000): Promise<Response> {
  const body = JSON.stringify({ type: 'mail', input: 'x'.repeat(200_000) });
  const signal = AbortSignal.timeout(timeoutMs);
  const asked = fetch(`${url}/v1/tasks`, { method: 'POST', body, signal });
  return asked.catch(() => Response.error());
}

test('a full disk refuses submits and keeps what it has, until there is room', async () => {
  const { url } = cluster.servers[0];
  const acknowledged: string[] = [];
  const status = async (): Promise<number> => {
    const answer = await submit(url);
    if (answer.status === 201) acknowledged.push(((await answer.json()) as { id: string }).id);
    return answer.status;
  };
  expect(await status()).toBe(201);
  await disk.fill();

  await waitUntil(async () => (await status()) === 507, {
    what: 'submits are refused',
    timeoutMs: TIMEOUT_MS,
  });
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(200);
  await disk.free();

  await waitUntil(async () => (await status()) === 201, {
    what: 'submits are taken',
    timeoutMs: TIMEOUT_MS,
  });
  await cluster.kill(cluster.servers[0]);
  const next = await cluster.add();
  for (const id of acknowledged) {
    expect((await fetch(`${next.url}/v1/tasks/${id}`)).status).toBe(200);
  }
});
