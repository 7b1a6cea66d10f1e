/** Servers on a database with a synchronous replica: the replica hangs, or the primary is gone. */
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Relay } from '../e2e/relay.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
/** Longer than a hold and than the term of its owner. */
const STUCK_MS = 7_000;

let primary: PostgresServer;
let replica: PostgresServer;
/** In the primary. */
let store: TempStore;
/** The address of the database, whichever machine is the primary. */
let relay: Relay;
let cluster: ClusterProcesses;
let client: Sluice;

beforeEach(async () => {
  primary = await PostgresServer.start();
  replica = await primary.replica('second');
  store = await TempStore.create(primary.address);
  await store.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (second)'`);
  await store.query('SELECT pg_reload_conf()');
  const isSynchronous = async () => {
    const { rows } = await store.query<{ sync_state: string }>(
      'SELECT sync_state FROM pg_stat_replication',
    );
    return rows.at(0)?.sync_state === 'quorum';
  };
  await waitUntil(isSynchronous, { what: 'the replica is synchronous', timeoutMs: TIMEOUT_MS });
  let target = primary.address;
  relay = await Relay.start(() => target);
  moveTo = (server) => {
    target = server.address;
  };
  const address = new URL(store.text);
  address.port = new URL(relay.url).port;
  cluster = await ClusterProcesses.start(address.href, 2);
  client = new Sluice({ url: cluster.servers.map(({ url }) => url) });
});

/** New connections go to this server. */
let moveTo: (server: PostgresServer) => void;

afterEach(async () => {
  await client.close();
  await cluster.dispose();
  relay.stop();
  await primary.stop();
});

test('a replica that hangs delays submits, while reads go on and nobody takes over', async () => {
  const owner = await cluster.owner();
  const [before, touched] = await client.submitMany('mail', [0, 0]);
  await waitUntil(async () => (await listedIds()).length === 2, {
    what: 'the tasks are listed',
    timeoutMs: TIMEOUT_MS,
  });
  const receiver = await receiverPid();
  process.kill(receiver, 'SIGSTOP');
  let isAnswered = false;
  const submitting = client.submit('mail', 1).finally(() => {
    isAnswered = true;
  });
  const cancelling = client.tasks.cancel(touched.id).catch(() => undefined);
  await waitUntil(() => isKeptWaiting(`${owner.url}/v1/tasks/${touched.id}`), {
    what: 'the cancelled task is not shown',
    timeoutMs: TIMEOUT_MS,
  });
  let isShown = false;
  const showing = client.tasks.get(touched.id).finally(() => {
    isShown = true;
  });

  const until = performance.now() + STUCK_MS;
  while (performance.now() < until) {
    expect((await listedIds()).toSorted()).toEqual([before.id, touched.id].toSorted());
    expect(await client.tasks.get(before.id)).toMatchObject({ state: 'queued' });
  }
  expect([isAnswered, isShown]).toEqual([false, false]);
  process.kill(receiver, 'SIGCONT');

  expect(await client.tasks.get((await submitting).id)).toMatchObject({ state: 'queued' });
  await cancelling;
  expect(await showing).toMatchObject({ id: touched.id });
  expect(await client.tasks.get(touched.id)).toMatchObject({ state: 'cancelled' });
  expect(await cluster.owner()).toBe(owner);
});

test('what was acknowledged is in the replica that replaces the primary', async () => {
  const inputs = Array.from({ length: 50 }, (_, n) => n);
  const before = await client.submitMany('mail', inputs);

  await primary.kill();
  const submitting = client.submit('mail', 50);
  const promoted = await TempStore.connectTo(replica.address);
  await promoted.query('SELECT pg_promote()');
  await promoted.end();
  moveTo(replica);

  const after = await submitting;
  for (const { id } of [...before, after]) {
    expect(await client.tasks.get(id)).toMatchObject({ state: 'queued' });
  }
});

/** Longer than an answer takes when nothing waits for the database. */
const ANSWER_MS_MAX = 1_000;

async function isKeptWaiting(url: string): Promise<boolean> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return false;
  } catch {
    return true;
  }
}

async function listedIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.tasks.list()) ids.push(id);
  return ids;
}

/** The process of the replica that receives what the primary sends. */
async function receiverPid(): Promise<number> {
  const session = await TempStore.connectTo(replica.address);
  const { rows } = await session.query<{ pid: number }>('SELECT pid FROM pg_stat_wal_receiver');
  await session.end();
  return rows[0].pid;
}
