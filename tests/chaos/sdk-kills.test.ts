/** Workers and a client with the SDK in real processes, while servers and workers are killed. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sluice, type TaskHandle } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { SquareLoad } from './square-load.ts';

const SDK_WORKER = fileURLToPath(new URL('./sdk-worker.ts', import.meta.url));
const KILLS = 8;
/** Every second server runs until this many tasks have ended, the others until anything is done. */
const ENDED_BEFORE_KILL = 20;
/** The shortest lease that a worker may request. */
const LEASE_MS = 3000;
/** The server notices a lost session within this time. */
const NOTICED_MS = 1000;
const TIMEOUT_MS = 120_000;

/** The states of a task that runs once. A push that a kill swallowed puts it back. */
const LIFE = /^queued( leased queued)* leased( running)? succeeded$/;

let folder: string;
let runsFile: string;
let processes: ServerProcess[];
let server: ServerProcess;
let sluice: Sluice;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-sdk-kills-'));
  runsFile = join(folder, 'runs');
  await writeFile(runsFile, '');
  processes = [];
  server = await startServer(0);
  sluice = new Sluice({ url: server.url });
});

afterEach(async () => {
  await sluice.close();
  for (const each of processes) await each.kill();
  await rm(folder, { recursive: true });
});

async function startServer(port: string | number): Promise<ServerProcess> {
  const started = await ServerProcess.startDev(join(folder, 'data'), undefined, port);
  processes.push(started);
  return started;
}

async function restartServer(): Promise<void> {
  await server.kill();
  server = await startServer(new URL(server.url).port);
}

async function startWorker(name: string, leaseMs = LEASE_MS): Promise<ServerProcess> {
  const args = [SDK_WORKER, server.url, name, String(leaseMs), runsFile];
  const worker = await ServerProcess.start({ command: process.execPath, args });
  processes.push(worker);
  return worker;
}

/** How often the handler of each task ran, according to the workers' files. */
async function runsByTask(): Promise<Map<string, number>> {
  const runs = new Map<string, number>();
  for (const line of (await readFile(runsFile, 'utf8')).split('\n').slice(0, -1)) {
    const [id] = line.split(' ');
    runs.set(id, (runs.get(id) ?? 0) + 1);
  }
  return runs;
}

/** All tasks on the server's disk, newest first, each with its state changes. */
async function kept(): Promise<{ id: string; state: string; changes: string[] }[]> {
  const api = new ApiClient(server.url, 'http1');
  const found = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const from = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await api.get(`/v1/tasks?limit=500${from}`);
    for (const { id, state } of body.items) {
      const { items } = (await api.get(`/v1/tasks/${id}/history`)).body;
      found.push({ id, state, changes: items.map(({ to }: { to: string }) => to) });
    }
    cursor = body.nextCursor;
  }
  api.close();
  return found;
}

async function pastLease(): Promise<void> {
  const overAt = performance.now() + 1.5 * LEASE_MS;
  const isOver = (): boolean => performance.now() >= overAt;
  await waitUntil(isOver, { what: 'a lease is over', timeoutMs: TIMEOUT_MS });
}

test('a server killed 8 times under load costs no result, no run and no attempt', async () => {
  for (const name of ['a', 'b']) await startWorker(name, 15_000);
  const load = new SquareLoad(sluice);
  const killedAt: number[] = [];

  load.start();
  for (let kill = 0; kill < KILLS; kill++) {
    const { ended, stored } = load;
    const isTime = (): boolean =>
      kill % 2 === 0
        ? load.ended >= ended + ENDED_BEFORE_KILL
        : load.ended + load.stored > ended + stored;
    await waitUntil(isTime, { what: `it is time for kill ${kill}`, timeoutMs: TIMEOUT_MS });
    killedAt.push(Date.now());
    await restartServer();
  }
  await load.stop();

  expect(load.problems).toEqual([]);
  const runs = await runsByTask();
  const tasks = await load.views();
  expect(tasks).toHaveLength(load.stored);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  expect(tasks.filter(({ id }) => runs.get(id) !== 1)).toEqual([]);
  expect(tasks.filter(({ state, attempt }) => state !== 'succeeded' || attempt !== 1)).toEqual([]);
  expect(runs.size).toBe(tasks.length);
  const all = await kept();
  expect(all.map(({ id }) => id).sort()).toEqual(tasks.map(({ id }) => id).sort());
  // No change appears twice, even if it was read again after a kill. A start may come with the end.
  const odd = all.filter(({ changes }) => !LIFE.test(changes.join(' ')));
  expect(odd).toEqual([]);
  // A run in which no handler outlived a server would prove nothing.
  const outlived = killedAt.filter((at) =>
    tasks.some(
      ({ attempts: [last], endedAt }) =>
        Date.parse(last.leasedAt ?? '') < at && Date.parse(endedAt ?? '') > at,
    ),
  );
  expect(outlived.length).toBeGreaterThan(0);
});

/** These tests are about leases, not about the backoff after a lost worker. */
const AT_ONCE = { retry: { delayMs: 0 } };

test('a worker that is killed has its task run elsewhere once its lease is over', async () => {
  const killed = await startWorker('killed');
  const task = await sluice.submit('hold', null, AT_ONCE);
  await killed.printed(/took attempt 1\n/);
  const other = await startWorker('other');
  const api = new ApiClient(server.url, 'http1');

  await killed.kill();
  // A server that got no CPU for a while renews its sessions, and shows the new time here.
  let heardAt = Number.NaN;
  const isLost = async (): Promise<boolean> => {
    const { items } = (await api.get('/v1/workers')).body;
    const found = items.find(({ name }: { name: string }) => name === 'killed');
    if (found !== undefined) heardAt = Date.parse(found.heardAt);
    return found === undefined;
  };
  await waitUntil(isLost, { what: 'the killed worker is lost', timeoutMs: TIMEOUT_MS });
  await other.printed(/took attempt 2\n/);
  other.signal('SIGUSR2');

  expect(await task.result()).toBe('other');
  const { attempt, attempts } = await task.get();
  const waitedMs = Date.parse(attempts.at(-1)?.leasedAt ?? '') - heardAt;
  expect(attempt).toBe(2);
  expect(waitedMs).toBeGreaterThanOrEqual(LEASE_MS);
  expect(waitedMs).toBeLessThanOrEqual(LEASE_MS + NOTICED_MS);
  expect((await runsByTask()).get(task.id)).toBe(2);
  api.close();
});

test('a worker that stood still for longer than its lease is fenced out', async () => {
  const stopped = await startWorker('stopped');
  const task = await sluice.submit('hold', null, AT_ONCE);
  await stopped.printed(/took attempt 1\n/);
  const other = await startWorker('other');

  stopped.signal('SIGSTOP');
  await other.printed(/took attempt 2\n/);
  // Its handler ends as soon as the process continues, while the other handler still runs.
  stopped.signal('SIGUSR2');
  stopped.signal('SIGCONT');
  // Whichever comes first: the answer to its report, or the server's word that the lease is gone.
  await stopped.printed(/heard stale_lease\n|told lease_lost\n/);
  const { state, attempt } = await task.get();
  other.signal('SIGUSR2');

  expect([['leased', 'running'].includes(state), attempt]).toEqual([true, 2]);
  expect(await task.result()).toBe('other');
  expect(await task.get()).toMatchObject({ state: 'succeeded', attempt: 2 });
});

test('a worker that stood still learns that its task is with another one', async () => {
  const stopped = await startWorker('stopped');
  const task = await sluice.submit('hold', null, AT_ONCE);
  await stopped.printed(/took attempt 1\n/);
  const other = await startWorker('other');

  stopped.signal('SIGSTOP');
  await other.printed(/took attempt 2\n/);
  stopped.signal('SIGCONT');
  await stopped.printed(/told lease_lost\n/);
  stopped.signal('SIGUSR2');
  other.signal('SIGUSR2');

  expect(await task.result()).toBe('other');
  expect(await task.get()).toMatchObject({ state: 'succeeded', attempt: 2 });
});

test('a server that stood still for longer than a lease takes nothing away', async () => {
  const workers = [await startWorker('a'), await startWorker('b')];
  const held: TaskHandle<unknown>[] = [];
  for (let n = 0; n < 10; n++) held.push(await sluice.submit('hold', null));
  const areTaken = async (): Promise<boolean> => (await runsByTask()).size === held.length;
  await waitUntil(areTaken, { what: 'all handlers run', timeoutMs: TIMEOUT_MS });

  server.signal('SIGSTOP');
  const late = sluice.submit('square', { n: 12, holdMs: 0 });
  await pastLease();
  server.signal('SIGCONT');
  expect(await (await late).result()).toBe(144);
  for (const worker of workers) worker.signal('SIGUSR2');

  const results = await Promise.all(held.map((task) => task.result()));
  expect(results.filter((name) => name !== 'a' && name !== 'b')).toEqual([]);
  const runs = await runsByTask();
  for (const task of [...held, await late]) {
    expect(await task.get()).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(runs.get(task.id)).toBe(1);
  }
});
