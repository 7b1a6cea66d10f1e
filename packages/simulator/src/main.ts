import { parseArgs } from 'node:util';
import { Situations } from './base/situations.ts';
import type { Mode } from './plan/mode.ts';
import type { Overrides } from './plan/overrides.ts';
import { missingSituations, SEEDS_FOR_ALL } from './seeds/must-occur.ts';
import { reportFailure, reportSummary } from './seeds/report.ts';
import { SeedPool } from './seeds/seed-pool.ts';

const HELP = `Usage: npm run sim -- [options]

Lets simulated worlds live and checks every promise of Sluice in them. The same seed gives the same
world, to the last bit.

  --seed S         one world, by its seed
  --trace          with --seed: print all that happens
  --seeds N        number of worlds, with the seeds from --from on (default 100)
  --from S         the first seed (default: by the clock, and printed)
  --minutes M      run worlds for M minutes
  --mode MODE      safety (default) or liveness: heal everything after a while, and then all that can
                   end has to end
  --processes P    at once (default: one per core)
  --runs           runs of workflows in every world, instead of in one of four
  --schedules      schedules in every world, instead of in one of four
  --agents         agents with commands and containers in every world, instead of in one of four
  --cluster        several servers on one database in every world, instead of one with a disk
  --no-shrink      report a failure as it is
  --faults LIST, --workers N, --clients N, --until MS, --calm
                   with --seed: a smaller world, as the report of a failure names it
  --help

Exit code 0 when every promise held, 1 when one did not or when a situation that must occur did not
in a thousand seeds or more, 2 when the options make no sense.`;

const OPTIONS = {
  seed: { type: 'string' },
  trace: { type: 'boolean' },
  seeds: { type: 'string' },
  from: { type: 'string' },
  minutes: { type: 'string' },
  mode: { type: 'string', default: 'safety' },
  processes: { type: 'string' },
  'no-shrink': { type: 'boolean' },
  faults: { type: 'string' },
  workers: { type: 'string' },
  clients: { type: 'string' },
  until: { type: 'string' },
  calm: { type: 'boolean' },
  runs: { type: 'boolean' },
  schedules: { type: 'boolean' },
  agents: { type: 'boolean' },
  cluster: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** A long run reports its progress once per this many seeds. */
const SEEDS_PER_LINE = 100;

class UsageError extends Error {}

/** A whole number of at least `least`, or `undefined` when the option is absent. */
function whole(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`--${name} takes a whole number from ${least} on, not '${text}'`);
}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, strict: true }).values;
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

type Values = ReturnType<typeof parse>;

function modeOf({ mode }: Values): Mode {
  if (mode === 'safety' || mode === 'liveness') return mode;
  throw new UsageError(`--mode takes safety or liveness, not '${mode}'`);
}

function overridesOf(values: Values): Overrides {
  const { faults } = values;
  const places =
    faults === 'none' ? [] : faults?.split(',').map((each) => whole('faults', each, 0));
  const numbers = {
    workers: whole('workers', values.workers, 1),
    clients: whole('clients', values.clients, 1),
    until: whole('until', values.until, 1),
  };
  const given = Object.entries({
    ...numbers,
    faults: places,
    calm: values.calm,
    runs: values.runs,
    schedules: values.schedules,
    agents: values.agents,
    cluster: values.cluster,
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Overrides;
}

async function main(): Promise<number> {
  const values = parse();
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const mode = modeOf(values);
  const one = whole('seed', values.seed, 0);
  const minutes = whole('minutes', values.minutes, 1);
  const count = one !== undefined ? 1 : (whole('seeds', values.seeds, 1) ?? 100);
  const from = one ?? whole('from', values.from, 0) ?? Math.floor(Date.now() / 1000);
  const until = minutes === undefined ? undefined : Date.now() + minutes * 60_000;
  console.log(one === undefined ? `seeds from ${from} on` : `seed ${one}`);

  const shrinks = values['no-shrink'] !== true;
  const order = { mode, overrides: overridesOf(values), trace: values.trace === true, shrinks };
  const processes = whole('processes', values.processes, 1);
  const pool = new SeedPool(one === undefined ? processes : 1);
  const situations = new Situations();
  const totals = { seeds: 0, failures: 0, simulatedMs: 0, cpuMs: 0, steps: 0 };
  for await (const answer of pool.run({
    from,
    ...(until === undefined ? { count } : { until }),
    order,
  })) {
    const { result, cpuMs } = answer;
    totals.seeds += 1;
    totals.simulatedMs += result.simulatedMs;
    totals.cpuMs += cpuMs;
    totals.steps += result.steps;
    situations.add(result.situations);
    if (result.failure !== undefined) {
      totals.failures += 1;
      console.log(reportFailure(answer, order));
    }
    if (totals.seeds % SEEDS_PER_LINE === 0) {
      console.error(`${totals.seeds} seeds so far, ${totals.failures} failed`);
    }
  }
  console.log(reportSummary(totals, situations));
  const missing = one === undefined ? missingSituations(situations, values.cluster) : [];
  if (missing.length > 0) console.log(`did not occur: ${missing.join('; ')}`);
  const isBlind = missing.length > 0 && totals.seeds >= SEEDS_FOR_ALL;
  return totals.failures === 0 && !isBlind ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (cause) {
  if (!(cause instanceof UsageError)) throw cause;
  console.error(`${cause.message}\nTry 'npm run sim -- --help'.`);
  process.exitCode = 2;
}
