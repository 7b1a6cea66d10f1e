/** A real disk that is full, below the tables of a store. */
import { SmallDisk } from '@sluice/log/testing/tmpfs-fixture';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
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

test('a full disk refuses submits and keeps what it has, until there is room', async () => {
  const { url } = cluster.servers[0];
  const acknowledged: string[] = [];
  /** Its status; 0 when there is no answer for a while. */
  const submit = async (timeoutMs = 2000): Promise<number> => {
    const body = JSON.stringify({ type: 'mail', input: 'x'.repeat(200_000) });
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(`${url}/v1/tasks`, { method: 'POST', body, signal }).catch(
      () => undefined,
    );
    if (answer?.status === 201) acknowledged.push(((await answer.json()) as { id: string }).id);
    return answer?.status ?? 0;
  };
  expect(await submit()).toBe(201);
  await disk.fill();

  await waitUntil(async () => (await submit()) === 507, {
    what: 'submits are refused',
    timeoutMs: TIMEOUT_MS,
  });
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(200);
  await disk.free();

  await waitUntil(async () => (await submit()) === 201, {
    what: 'submits are taken',
    timeoutMs: TIMEOUT_MS,
  });
  await cluster.kill(cluster.servers[0]);
  const next = await cluster.add();
  for (const id of acknowledged) {
    expect((await fetch(`${next.url}/v1/tasks/${id}`)).status).toBe(200);
  }
});
