/** How many connections of the database servers use (docs/cluster.md says it). */

import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { largeJson, sha256Of } from '../e2e/blob-client.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const LOOK_EVERY_MS = 20;
const TIMEOUT_MS = 60_000;
const OWNER_MAX = 20;
const STANDBY_MAX = 5;
const TASKS = 300;
const BLOBS = 12;

let database: PostgresServer;
let store: TempStore;
let cluster: ClusterProcesses;

beforeEach(async () => {
  database = await PostgresServer.start();
  store = await TempStore.create(database.address);
  cluster = await ClusterProcesses.start(store.text, 1);
});

afterEach(async () => {
  await cluster.dispose();
  await store.dispose();
  await database.stop();
});

async function connections(): Promise<number> {
  const { rows } = await store.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE 'sluice %'`,
  );
  return rows[0].count;
}

/** The most connections while something goes on. */
async function mostDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  let most = 0;
  // Asking without a pause would take one of two cores from the servers.
  for (; !isOver; await sleep(LOOK_EVERY_MS)) most = Math.max(most, await connections());
  await ended;
  return most;
}

test('an owner under load and a standby use the connections that are documented', async () => {
  const [{ url }] = cluster.servers;
  const sluice = new Sluice({ url });
  const task = defineTask({
    type: 'echo',
    run: async (input: number, { log }) => {
      await log(`echo ${input}`);
      return input;
    },
  });
  await sluice.work([task], { handleSignals: false, concurrency: { echo: 50 } });
  const one = async (input: number) => {
    await (await sluice.submit(task, input)).result();
    // One thread answers all lists, and on a busy machine it is the last one to run.
    if (input % 10 > 0) return;
    for await (const _ of sluice.tasks.list({ type: task.type })) break;
  };
  const blob = async () => {
    const content = largeJson(2 ** 21);
    const place = `${url}/v1/blobs/${sha256Of(content)}`;
    await fetch(place, { method: 'PUT', body: content });
    await (await fetch(place)).arrayBuffer();
  };

  const most = await mostDuring(
    Promise.all([
      ...Array.from({ length: TASKS }, (_, n) => one(n)),
      ...Array.from({ length: BLOBS }, blob),
    ]),
  );
  await sluice.close();
  const before = await connections();
  const standby = await cluster.add();
  const isReady = async () => (await fetch(`${standby.url}/health/ready`)).status === 200;
  await waitUntil(isReady, { what: 'the standby follows', timeoutMs: TIMEOUT_MS });
  const added = (await connections()) - before;

  expect(most).toBeGreaterThan(STANDBY_MAX);
  expect(most).toBeLessThanOrEqual(OWNER_MAX);
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThanOrEqual(STANDBY_MAX);
});
