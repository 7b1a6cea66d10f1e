import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEVEL } from '@sluice/core';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;

let store: TempStore;
let cluster: ClusterProcesses;
const clients: Sluice[] = [];
/** How often each task ran, by id. */
let times: Map<string, number>;
/** Set while handlers have to wait. */
let gate: Promise<void> | undefined;

beforeEach(async () => {
  store = await TempStore.create();
  cluster = await ClusterProcesses.start(store.text, 2);
  times = new Map();
  gate = undefined;
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await cluster.dispose();
  await store.dispose();
});

const square = defineTask({
  type: 'square',
  run: async (input: number, { id }) => {
    times.set(id, (times.get(id) ?? 0) + 1);
    await gate;
    return input * input;
  },
});

/** A client of all servers, which it asks in the order of the list. */
function client(...servers: readonly ServerProcess[]): Sluice {
  const made = new Sluice({ url: servers.map(({ url }) => url) });
  clients.push(made);
  return made;
}

async function others(server: ServerProcess): Promise<ServerProcess> {
  return cluster.servers.find((each) => each !== server) as ServerProcess;
}

test('any server takes requests, and workers work through any', async () => {
  const owner = await cluster.owner();
  const standby = await cluster.standby();
  const sluice = client(standby);
  await sluice.work([square], { handleSignals: false });

  const task = await sluice.submit(square, 12);

  expect(await task.result()).toBe(144);
  expect(await client(owner).tasks.get(task.id)).toMatchObject({ state: 'succeeded', output: 144 });
  expect([...times.values()]).toEqual([1]);
});

test('a killed owner is replaced; what it acknowledged is done, once', async () => {
  const owner = await cluster.owner();
  const standby = await others(owner);
  const sluice = client(standby, owner);
  await sluice.work([square], { handleSignals: false, concurrency: { square: 20 } });
  const open = Promise.withResolvers<void>();
  gate = open.promise;
  const before = await sluice.submitMany(square, [1, 2, 3, 4, 5]);
  await waitUntil(() => times.size === 5, { what: 'all run', timeoutMs: TIMEOUT_MS });

  await cluster.kill(owner);
  const during = sluice.submit(square, 6);
  // It is held until this server itself is the owner.
  expect((await fetch(`${standby.url}/v1/queues`)).status).toBe(200);
  const next = await cluster.owner();
  open.resolve();

  expect(next).toBe(standby);
  const results = await Promise.all([...before, await during].map((task) => task.result()));
  expect(results).toEqual([1, 4, 9, 16, 25, 36]);
  expect([...times.values()]).toEqual([1, 1, 1, 1, 1, 1]);
});

test('an owner that stands still is replaced, and follows when it goes on', async () => {
  const owner = await cluster.owner();
  const standby = await others(owner);
  const before = await client(owner).submit(square, 3);

  owner.signal('SIGSTOP');
  const next = await cluster.owner();
  expect(next).toBe(standby);
  const meanwhile = await client(standby).submit(square, 4);
  owner.signal('SIGCONT');
  await waitUntil(async () => (await fetch(`${owner.url}/health/role`)).status === 200, {
    what: 'the first owner answers',
    timeoutMs: TIMEOUT_MS,
  });
  expect(await cluster.owner()).toBe(standby);

  // Through the first owner, which asks the second.
  expect(await client(owner).tasks.get(before.id)).toMatchObject({ state: 'queued' });
  expect(await client(owner).tasks.get(meanwhile.id)).toMatchObject({ state: 'queued' });
});

test('a server that is stopped hands over, and an operator can ask for it', async () => {
  const owner = await cluster.owner();
  const standby = await others(owner);
  const sluice = client(standby, owner);
  await sluice.work([square], { handleSignals: false });

  expect(await cluster.stop(owner)).toBe(0);
  expect(await (await sluice.submit(square, 5)).result()).toBe(25);
  const third = await cluster.add();
  expect(await cluster.owner()).toBe(standby);
  const said = await runSluice(['cluster', 'hand-off', '--store', store.text]);
  expect(said.stdout).toBe('asked the owner to hand over\n');
  await waitUntil(async () => (await cluster.owner()) === third, {
    what: 'the third server is the owner',
    timeoutMs: TIMEOUT_MS,
  });

  expect(await (await sluice.submit(square, 6)).result()).toBe(36);
  const status = await runSluice(['cluster', 'status', '--store', store.text, '--json']);
  expect((await fetch(`${third.url}/v1/backup`)).status).toBe(409);
  const seen = await new ApiClient(standby.url, 'http1').get('/v1/cluster');
  expect(seen.body.store).toMatchObject({ durability: 'single', level: LEVEL });
  const roles = seen.body.store.servers.map(({ url, role }: ServerProcess & { role: string }) => [
    url,
    role,
  ]);
  expect(new Map(roles)).toEqual(
    new Map([
      [third.url, 'owner'],
      [standby.url, 'standby'],
    ]),
  );
  const { hold, servers } = JSON.parse(status.stdout);
  expect(hold.address).toBe(third.url);
  expect(servers).toHaveLength(2);
});

test('a declared replica that the database does not wait for is refused', async () => {
  const place = ['--store', store.text, '--data', join(tmpdir(), 'sluice-never-used')];
  const { code, stderr } = await runSluice(['server', ...place, '--durability', 'synchronous']);

  expect(code).toBe(1);
  expect(stderr).toContain("'synchronous_standby_names' is empty, but durability is 'synchronous'");
});
