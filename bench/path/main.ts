/**
 * `npm run bench:path`: one task from a raw HTTP request to a worker and back, with fsync on.
 *
 * Server, load generator and worker are separate processes that share the machine.
 */
import { readArguments, runsOf } from '../arguments.ts';
import type { Protocol } from './connection.ts';
import { measureMemory } from './memory.ts';
import { profileServer } from './profile.ts';
import { runScenario, type Scenario, type ScenarioResult } from './scenario.ts';

const HELP = `Usage: npm run bench:path -- [options]

  --only NAME   the parts whose names begin so: batch-100, batch-1, latency-2000 (with -http1 or
                -h2c), memory; none for no part
  --runs N      how often each is measured (default 3)
  --quick       a tenth of the tasks, once
  --profile     a CPU profile of the server at last
  --help
`;

const values = readArguments(HELP, {
  quick: { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  runs: { type: 'string', default: '3' },
});
const share = values.quick ? 0.1 : 1;
const runs = values.quick ? 1 : runsOf(values.runs);

function batched(protocol: Protocol): Scenario {
  return { protocol, tasks: 1_000_000 * share, batch: 100, inFlight: 8, slots: 5000, rate: 0 };
}

function single(protocol: Protocol): Scenario {
  return { protocol, tasks: 100_000 * share, batch: 1, inFlight: 64, slots: 5000, rate: 0 };
}

function fixedRate(protocol: Protocol): Scenario {
  return { protocol, tasks: 40_000 * share, batch: 1, inFlight: 64, slots: 5000, rate: 2000 };
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'batch-100-http1': batched('http1'),
  'batch-100-h2c': batched('h2c'),
  'batch-1-http1': single('http1'),
  'batch-1-h2c': single('h2c'),
  'latency-2000-http1': fixedRate('http1'),
  'latency-2000-h2c': fixedRate('h2c'),
};

const COLUMNS = [
  'run',
  'tasks/s',
  'submits/s',
  'p50 ms',
  'p99 ms',
  'server µs',
  'load µs',
  'worker µs',
  'reports/request',
  'stolen %',
];

function row(name: string, result: ScenarioResult): string {
  const cells = [
    name,
    result.tasksPerSecond.toFixed(0),
    result.submitsPerSecond.toFixed(0),
    result.p50Ms.toFixed(2),
    result.p99Ms.toFixed(2),
    result.serverUs.toFixed(1),
    result.loadUs.toFixed(1),
    result.workerUs.toFixed(1),
    result.reportsPerRequest.toFixed(0),
    result.stolenPercent.toFixed(1),
  ];
  return `| ${cells.map((cell) => cell.replace('NaN', '–')).join(' | ')} |`;
}

function isWanted(name: string): boolean {
  return name.startsWith(values.only);
}

console.log(`| ${COLUMNS.join(' | ')} |`);
console.log(`|${COLUMNS.map(() => ' --- |').join('')}`);
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (!isWanted(name)) continue;
  for (let run = 1; run <= runs; run++) {
    console.log(row(`${name} (${run})`, await runScenario(scenario)));
  }
}
if (isWanted('memory')) console.log(await measureMemory(1_000_000 * share));
if (values.profile) console.log(await profileServer(batched('http1')));
