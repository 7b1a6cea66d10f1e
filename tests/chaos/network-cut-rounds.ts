/**
 * Cuts the network of the owner of a cluster, in one direction and in both, under load. Servers are
 * hosts of their own in network namespaces. Every acknowledged task must end with the right output,
 * and no handler may run twice.
 *
 *   npm run test:network-cuts -- [--rounds 20] [--seed S] [--only gone,to-database,…]
 *
 * Prints how long clients waited for an answer in each round. Needs root.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { initStoreAt, parseStoreAddress } from '@sluice/server/cluster';
import { ServerProcess } from '../support/server-process.ts';
import { LAUNCHER, runSluice } from '../support/sluice-command.ts';
import { type Cut, TestHosts } from '../support/test-hosts.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DoublingLoad, printVerdict } from './doubling-load.ts';
import { Random } from './random.ts';

const TIMEOUT_MS = 60_000;
const PORT = 7420;
/** Longer than a hold. */
const OTHERS_CUT_MS = 6_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'gone,to-database,from-database,to-others' },
    /** Set by this program for the part of it that runs in the hub. */
    hub: { type: 'string' },
    hosts: { type: 'string', default: '' },
  },
});

/** Runs this program again inside the hub, and removes the network afterwards. */
function runInHub(): void {
  const hosts = TestHosts.create(2);
  const names = ['--hub', hosts.hub, '--hosts', hosts.hosts.join(',')];
  const args = ['netns', 'exec', hosts.hub, process.execPath, ...process.argv.slice(1), ...names];
  try {
    const { status } = spawnSync('ip', args, { stdio: 'inherit' });
    process.exitCode = status ?? 1;
  } finally {
    hosts.remove();
  }
}

/** PostgreSQL listens on loopback alone; hosts reach it here. */
function offerDatabase(port: number, host: string): void {
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      // A cut breaks connections, which is what the rounds are about.
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(port, host);
  server.unref();
}

interface Servers {
  readonly hosts: TestHosts;
  readonly processes: readonly ServerProcess[];
}

/** The places of servers that say that they own the partition. */
async function owners({ processes }: Servers): Promise<number[]> {
  const roles = await Promise.all(
    processes.map(async ({ url }) => {
      const signal = AbortSignal.timeout(1000);
      const answer = await fetch(`${url}/health/role`, { signal }).catch(() => undefined);
      return ((await answer?.json()) as { role: string } | undefined)?.role;
    }),
  );
  return roles.flatMap((role, place) => (role === 'owner' ? [place] : []));
}

async function oneOwner(servers: Servers): Promise<number> {
  let found: number[] = [];
  const isOne = async () => {
    found = await owners(servers);
    return found.length === 1;
  };
  await waitUntil(isOne, { what: 'one server is the owner', timeoutMs: TIMEOUT_MS });
  return found[0];
}

/** Cuts off the owner, until the other server owns the partition. */
async function cutOwner(servers: Servers, cut: Cut): Promise<void> {
  const { hosts } = servers;
  const owner = await oneOwner(servers);
  const host = hosts.hosts[owner];
  hosts.cut(host, cut);
  if (cut === 'to-others') await sleep(OTHERS_CUT_MS);
  else {
    const isTakenOver = async () => (await owners(servers)).includes(1 - owner);
    await waitUntil(isTakenOver, { what: 'the other one takes over', timeoutMs: TIMEOUT_MS });
  }
  hosts.heal(host, cut);
  await oneOwner(servers);
}

async function run(hosts: TestHosts): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cuts-'));
  const database = await PostgresServer.start();
  offerDatabase(database.port, hosts.databaseHost);
  const local = `${database.address}?schema=cuts`;
  await initStoreAt(parseStoreAddress(local));
  const created = await runSluice([
    'key',
    'create',
    '--role',
    'admin',
    '--in-store',
    '--store',
    local,
    '--json',
  ]);
  const { key: apiKey } = JSON.parse(created.stdout) as { key: string };
  const store = local.replace('127.0.0.1', hosts.databaseHost);
  const processes: ServerProcess[] = [];
  for (const host of hosts.hosts) {
    const flags = ['--host', hosts.addressOf(host), '--port', `${PORT}`, '--insecure'];
    const data = ['--data', join(folder, host), '--store', store];
    const args = ['netns', 'exec', host, LAUNCHER, 'server', ...flags, ...data];
    processes.push(await ServerProcess.start({ command: 'ip', args }));
  }
  const servers = { hosts, processes };
  const load = new DoublingLoad({ url: processes.map(({ url }) => url), apiKey });
  await load.start();
  const random = new Random(Number(values.seed));
  console.log(`seed ${values.seed}`);
  for (let round = 1; round <= Number(values.rounds); round++) {
    const cuts = values.only.split(',') as Cut[];
    const cut = round <= cuts.length ? cuts[round - 1] : random.pick(cuts);
    await load.goesOn(20);
    load.longestMs = 0;
    await cutOwner(servers, cut);
    await load.goesOn(5);
    console.log(`round ${round}: ${cut}, the longest submit took ${Math.round(load.longestMs)} ms`);
  }
  printVerdict(await load.problems(), load.acknowledged.size);
  for (const server of processes) await server.kill();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}

if (values.hub === undefined) runInHub();
else await run(TestHosts.named(values.hub, values.hosts.split(',')));
