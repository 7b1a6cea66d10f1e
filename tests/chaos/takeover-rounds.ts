/**
 * Takes the owner of a cluster away again and again, under load. Every acknowledged task must end
 * with the right output, and no handler may run twice.
 *
 *   npm run test:takeovers -- [--rounds 100] [--seed S] [--only kill,freeze,…] [--frozen-ms 60000]
 *
 * Prints how long clients waited for an answer in each round.
 */
import { parseArgs } from 'node:util';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { initStoreAt, parseStoreAddress } from '@sluice/server/cluster';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { DoublingLoad, printVerdict } from './doubling-load.ts';
import { Random } from './random.ts';

const SERVERS = 2;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'kill,kill-standby,kill-all,freeze,terminate,database' },
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
  database: async () => {
    await database.kill();
    await database.resume();
  },
};

const database = await PostgresServer.start();
const store = `${database.address}?schema=chaos`;
await initStoreAt(parseStoreAddress(store));
const cluster = await ClusterProcesses.start(store, SERVERS);
const load = new DoublingLoad({ url: cluster.servers.map((server) => server.url) });
await load.start();
const random = new Random(Number(values.seed));
console.log(`seed ${values.seed}`);
for (let round = 1; round <= Number(values.rounds); round++) {
  const kinds = values.only.split(',');
  const kind = round <= kinds.length ? kinds[round - 1] : random.pick(kinds);
  await load.goesOn(20);
  load.longestMs = 0;
  await ROUNDS[kind](cluster, await cluster.owner());
  await cluster.owner();
  await load.goesOn(5);
  console.log(`round ${round}: ${kind}, the longest submit took ${Math.round(load.longestMs)} ms`);
}
printVerdict(await load.problems(), load.acknowledged.size);
await cluster.dispose();
await database.stop();
