/** A real disk that is full, below the tables of a store. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
const DISK = '48m';

let folder: string;
let database: PostgresServer;
let store: TempStore;
let cluster: ClusterProcesses;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tablespace-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=0777`, 'tmpfs', folder]);
  const place = join(folder, 'tables');
  execFileSync('install', ['-d', '-o', 'postgres', '-g', 'postgres', place]);
  database = await PostgresServer.start();
  const admin = await TempStore.connectTo(database.address);
  await admin.query(`CREATE TABLESPACE small LOCATION '${place}'`);
  await admin.query(`ALTER DATABASE postgres SET default_tablespace = 'small'`);
  await admin.end();
  store = await TempStore.create(database.address);
  cluster = await ClusterProcesses.start(store.text, 1);
});

afterEach(async () => {
  await cluster.dispose();
  await store.dispose();
  await database.stop();
  execFileSync('umount', [folder]);
  await rm(folder, { recursive: true });
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
  await store.query(
    'CREATE TABLE $schema.filler AS SELECT repeat(md5(n::text), 60) AS text FROM generate_series(1, 6000) n',
  );

  await waitUntil(async () => (await submit()) === 507, {
    what: 'submits are refused',
    timeoutMs: TIMEOUT_MS,
  });
  expect((await fetch(`${url}/v1/tasks`)).status).toBe(200);
  await store.query('DROP TABLE $schema.filler');

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
