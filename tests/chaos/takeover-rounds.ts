/**
 * Takes the owner of a cluster away again and again, under load: ends it, freezes it, or cuts it
 * off from its database with a proxy. Every acknowledged task must end with the right output, and
 * no handler may run twice. Where an owner lets go by itself, the SDK may reject no submit.
 *
 *   npm run test:takeovers -- [--rounds 100] [--seed S] [--only kill,freeze,…] [--frozen-ms 60000]
 *
 * Prints how long clients waited for an answer in each round.
 */
import { parseArgs } from 'node:util';
import type { Cut } from '@sluice/postgres/testing/cutting-proxy';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { initStoreAt, parseStoreAddress } from '@sluice/server/cluster';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DoublingLoad, printVerdict } from './doubling-load.ts';
import { cutByProxy, PROXY_CUTS } from './proxy-cuts.ts';
import { Random } from './random.ts';

const SERVERS = 2;
/** Longer than a hand-off takes on a busy machine. */
const HAND_OFF_MS_MAX = 60_000;
const PROXY_KINDS = Object.keys(PROXY_CUTS).join(',');
const KINDS = `kill,kill-standby,kill-all,freeze,terminate,hand-off,database,${PROXY_KINDS}`;
/** Rounds in which clients see slow answers, and no error. */
const WITHOUT_FAILURES: ReadonlySet<string> = new Set(['kill-standby', 'terminate', 'hand-off']);

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: KINDS },
    /** Longer than a hold. */
    'frozen-ms': { type: 'string', default: '9000' },
  },
});

type Round = (cluster: ClusterProcesses, owner: ServerProcess) => Promise<void>;

/** What can happen to a cluster. Each ends with as many servers as there were. */
const ROUNDS: Readonly<Record<string, Round>> = {
  kill: async (cluster, owner) => {
    await cluster.kill(owner);
    await cluster.owner();
    await cluster.add();
  },
  'kill-standby': async (cluster) => {
    await cluster.kill(await cluster.standby());
    await cluster.add();
  },
  'kill-all': async (cluster) => {
    await Promise.all([...cluster.servers].map((server) => cluster.kill(server)));
    for (let n = 0; n < SERVERS; n++) await cluster.add();
  },
  freeze: async (cluster, owner) => {
    owner.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, Number(values['frozen-ms'])));
    await cluster.owner();
    owner.signal('SIGCONT');
  },
  terminate: async (cluster, owner) => {
    await cluster.stop(owner);
    await cluster.add();
  },
  'hand-off': async (cluster, owner) => {
    await runSluice(['cluster', 'hand-off', '--store', store]);
    await waitUntil(async () => (await cluster.owner()) !== owner, {
      what: 'another server is the owner',
      timeoutMs: HAND_OFF_MS_MAX,
    });
  },
  database: async () => {
    await database.kill();
    await database.resume();
  },
  ...Object.fromEntries(Object.entries(PROXY_CUTS).map(([kind, cut]) => [kind, proxyRound(cut)])),
};

function proxyRound(cut: Cut): Round {
  return (cluster, owner) => cutByProxy({ cluster, owner, load, cut });
}

const database = await PostgresServer.start();
const store = `${database.address}?schema=chaos`;
await initStoreAt(parseStoreAddress(store));
const kinds = values.only.split(',');
// Without cuts nothing stands between the servers and the database.
const isBehindProxies = kinds.some((kind) => kind in PROXY_CUTS);
const cluster = await ClusterProcesses.start(store, SERVERS, { isBehindProxies });
const load = new DoublingLoad({ url: cluster.servers.map((server) => server.url) });
await load.start();
const problems: string[] = [];
const random = new Random(Number(values.seed));
console.log(`seed ${values.seed}`);
for (let round = 1; round <= Number(values.rounds); round++) {
  const kind = round <= kinds.length ? kinds[round - 1] : random.pick(kinds);
  await load.goesOn(20);
  load.longestMs = 0;
  load.failures.length = 0;
  await ROUNDS[kind](cluster, await cluster.owner());
  await cluster.owner();
  await load.goesOn(5);
  const { longestMs, failures } = load;
  console.log(`round ${round}: ${kind}, the longest submit took ${Math.round(longestMs)} ms`);
  if (failures.length > 0) console.log(`${failures.length} submits rejected: ${failures[0]}`);
  if (WITHOUT_FAILURES.has(kind)) problems.push(...failures.map((why) => `${kind}: ${why}`));
}
printVerdict([...problems, ...(await load.problems())], load.acknowledged.size);
await cluster.dispose();
await database.stop();
