/**
 * Takes the owner of a cluster away again and again, under load. Every acknowledged task must end
 * with the right output, and no handler may run twice.
 *
 *   npm run test:takeovers -- [--rounds 100] [--seed S] [--only kill,stop,…]
 *
 * Prints how long clients waited for an answer in each round.
 */
import { parseArgs } from 'node:util';
import { PostgresServer } from '@sluice/postgres/testing/postgres-server';
import { defineTask, Sluice, type TaskHandle } from '@sluice/sdk';
import { initStoreAt, parseStoreAddress } from '@sluice/server/cluster';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { Random } from './random.ts';

const TIMEOUT_MS = 120_000;
const SERVERS = 2;
/** Longer than a hold. */
const STANDSTILL_MS = 9_000;
/** Longer than any server is away. */
const LEASE_MS = 60_000;
const SLOTS = 50;
const PROBLEMS_SHOWN_MAX = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'kill,kill-standby,kill-all,freeze,terminate,database' },
  },
});

/** How often each task ran, by id. */
const known = new Map<string, number>();

const double = defineTask({
  type: 'double',
  run: async (input: number, { id }) => {
    known.set(id, (known.get(id) ?? 0) + 1);
    return input * 2;
  },
});

/** Submits one task after the other, and remembers the acknowledged ones. */
class Load {
  readonly acknowledged = new Map<number, TaskHandle<number>>();
  /** The longest time that a submit took, in ms, since it was last read. */
  longestMs = 0;
  private isStopped = false;
  private readonly loops: Promise<void>[];

  constructor(client: Sluice, width: number) {
    this.loops = Array.from({ length: width }, (_, lane) => this.loop(client, lane));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.loops);
  }

  private async loop(client: Sluice, lane: number): Promise<void> {
    for (let n = lane; !this.isStopped; n += 1000) {
      const began = performance.now();
      try {
        this.acknowledged.set(n, await client.submit(double, n));
      } catch {
        // Not acknowledged, so nothing is promised.
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
    }
  }
}

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
    await new Promise((resolve) => setTimeout(resolve, STANDSTILL_MS));
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

async function problemsOf(load: Load): Promise<string[]> {
  const problems: string[] = [];
  for (const [input, task] of load.acknowledged) {
    const output = await task
      .result({ timeoutMs: TIMEOUT_MS })
      .catch((cause: Error) => cause.message);
    if (output !== input * 2) problems.push(`${task.id} ended with ${output}`);
    const runs = known.get(task.id) ?? 0;
    if (runs !== 1) problems.push(`${task.id} ran ${runs} times`);
  }
  return problems;
}

const database = await PostgresServer.start();
const store = `${database.address}?schema=chaos`;
await initStoreAt(parseStoreAddress(store));
const cluster = await ClusterProcesses.start(store, SERVERS);
const url = cluster.servers.map((server) => server.url);
const client = new Sluice({ url });
await client.work([double], {
  handleSignals: false,
  concurrency: { double: SLOTS },
  leaseMs: LEASE_MS,
  onNotice: () => undefined,
});
const load = new Load(client, 4);
const random = new Random(Number(values.seed));
console.log(`seed ${values.seed}`);
for (let round = 1; round <= Number(values.rounds); round++) {
  const kinds = values.only.split(',');
  const kind = round <= kinds.length ? kinds[round - 1] : random.pick(kinds);
  const count = load.acknowledged.size;
  const isBusy = () => load.acknowledged.size > count + 20;
  await waitUntil(isBusy, { what: 'tasks are acknowledged', timeoutMs: TIMEOUT_MS });
  load.longestMs = 0;
  await ROUNDS[kind](cluster, await cluster.owner());
  await cluster.owner();
  const after = load.acknowledged.size;
  const goesOn = () => load.acknowledged.size > after + 5;
  await waitUntil(goesOn, { what: 'tasks are acknowledged again', timeoutMs: TIMEOUT_MS });
  console.log(`round ${round}: ${kind}, the longest submit took ${Math.round(load.longestMs)} ms`);
}
await load.stop();
const problems = await problemsOf(load);
for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) console.log(problem);
console.log(`${load.acknowledged.size} tasks acknowledged`);
console.log(`${problems.length} violations`);
await client.close();
await cluster.dispose();
await database.stop();
