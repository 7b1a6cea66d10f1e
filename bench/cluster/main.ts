/** `npm run bench:cluster`: one server, an owner on PostgreSQL, and a server that asks it. */
import { parseArgs } from 'node:util';
import { measureCosts } from './costs.ts';
import { finishRate, gap, latency, submitRate } from './measures.ts';
import { measurePeers } from './peers.ts';
import { BenchCluster, SETUPS } from './setups.ts';
import { measureStandby } from './standby.ts';
import { measureTrimming } from './trimming.ts';

const ROWS = ['takeover', 'hand-off', 'standby', 'costs', 'trimming', 'peers'];
const ALL = [...Object.keys(SETUPS), ...ROWS];

const HELP = `Usage: npm run bench:cluster -- [options]

Measures the embedded server, the owner of a store in PostgreSQL, and a server that passes requests
on to the owner: submits in bulk, submit to finished, and the time to the start of the handler. Then
how long clients wait while the owner is killed, or hands over; what a standby costs, how much the
database grows, where the CPU time of a task goes, and what trimming the log returns; and the peers that keep their tasks in PostgreSQL, with the works of
\`npm run bench\`. Everything is on this machine; client
and worker are one process.

  --tasks N     tasks of each throughput row (default 50000)
  --rounds N    takeovers and hand-offs (default 50)
  --only LIST   ${ALL.join(', ')}
  --help`;

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '50' },
    only: { type: 'string', default: ALL.join(',') },
    help: { type: 'boolean' },
  },
});

const shown = (values: readonly number[]) => values.map((ms) => ms.toFixed(1)).join(' / ');

async function measureSetup(name: string): Promise<void> {
  const setup = await SETUPS[name]();
  const tasks = Number(values.tasks);
  try {
    // Warms up all processes.
    await finishRate(setup.url, 5000);
    const finished = await finishRate(setup.url, tasks);
    const at100 = await latency(setup.url, 100, 5);
    const at2000 = await latency(setup.url, 2000, 5);
    const submitted = await submitRate(setup.url, tasks);
    console.log(
      `${name}: submitted ${Math.round(submitted)}/s, finished ${Math.round(finished)}/s, ` +
        `latency p50 / p99 at 100/s ${shown(at100)} ms, at 2,000/s ${shown(at2000)} ms`,
    );
  } finally {
    await setup.stop();
  }
}

async function measureGaps(kind: string): Promise<void> {
  const gaps: number[] = [];
  const cluster = await BenchCluster.start(2);
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      const take = kind === 'takeover' ? 'kill' : 'stop';
      gaps.push(await gap(cluster, (owner) => cluster.servers[take](owner)));
      await cluster.servers.add();
    }
  } finally {
    await cluster.stop();
  }
  const sorted = gaps.toSorted((a, b) => a - b);
  const [p50, p90, max] = [0.5, 0.9, 1].map(
    (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))],
  );
  console.log(`${kind}: no answer for p50 / p90 / max ${shown([p50, p90, max])} ms`);
}

if (values.help) console.log(HELP);
else {
  for (const name of values.only.split(',')) {
    if (name in SETUPS) await measureSetup(name);
    else if (name === 'standby') await measureStandby(Number(values.tasks), console.log);
    else if (name === 'costs') await measureCosts(Number(values.tasks), console.log);
    else if (name === 'trimming') await measureTrimming(console.log);
    else if (name === 'peers') await measurePeers(console.log);
    else await measureGaps(name);
  }
}
