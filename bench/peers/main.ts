/**
 * `npm run bench`: Sluice and its peers do the same work on the same machine in one run. Every work
 * starts with a fresh store and fresh processes. Contenders alternate, several times over.
 *
 * `--quick` runs everything once, and a fifth of what takes long. It ranks as the full run does.
 * `--json` prints one document and writes no files.
 */
import { readArguments, refuse, runsOf } from '../arguments.ts';
import { SHAPES } from '../runs/contender.ts';
import { CONTENDERS as RUN_CONTENDERS } from '../runs/contenders.ts';
import { measureRuns } from '../runs/measure-runs.ts';
import { installWorkflowPeers } from '../runs/packages.ts';
import { StolenTime } from '../stolen-time.ts';
import { CONTENDERS } from './contenders.ts';
import { installPeers } from './packages.ts';
import { Results } from './results.ts';
import { Stage } from './stage.ts';
import { WORKS } from './works/works.ts';
import { documentOf, writeResults } from './write-results.ts';

const QUICK_SHARE = 0.2;
/** The work that workflow engines do: runs of one step, end to end, and fewer of more steps. */
const RUNS = 'runs';
const RUN_COUNT = 3000;
const ALL_WORKS = [...Object.keys(WORKS), RUNS];
const ALL_CONTENDERS = [...new Set([...Object.keys(CONTENDERS), ...Object.keys(RUN_CONTENDERS)])];

const HELP = `Usage: npm run bench -- [options]

Measures Sluice and its peers with the same work, and writes a table and a chart to bench/results.

  --only LIST   these contenders or works, by name, with commas in between
  --runs N      how often each is measured, in turns (default 3)
  --quick       one run, and a fifth of what takes long: twelve minutes
  --json        one document on the standard output, and no files; with \`npm run --silent\`,
                nothing beside it
  --help

Contenders: ${ALL_CONTENDERS.join(', ')}
Works: ${ALL_WORKS.join(', ')}
`;

const values = readArguments(HELP, {
  only: { type: 'string', default: '' },
  runs: { type: 'string', default: '3' },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});

/** The requested names of one kind, or all of that kind when none was requested. */
function chosen(all: readonly string[], asked: readonly string[]): readonly string[] {
  const some = all.filter((name) => asked.includes(name));
  return some.length > 0 ? some : all;
}

async function measure(): Promise<void> {
  const asked = values.only.split(',').filter((name) => name !== '');
  const unknown = asked.find((name) => ![...ALL_CONTENDERS, ...ALL_WORKS].includes(name));
  if (unknown !== undefined) refuse(`there is no contender or work '${unknown}'`);
  const runs = values.quick ? 1 : runsOf(values.runs);
  const all = chosen(ALL_CONTENDERS, asked);
  const contenders = all.filter((name) => name in CONTENDERS);
  const engines = all.filter((name) => name in RUN_CONTENDERS);
  const works = chosen(ALL_WORKS, asked);
  const share = values.quick ? QUICK_SHARE : 1;

  const chosenOnes = await Promise.all(contenders.map((name) => CONTENDERS[name]()));
  installPeers(chosenOnes.map(({ store }) => store));
  if (works.includes(RUNS) && engines.length > 0) installWorkflowPeers();
  const results = new Results();
  const ofRuns = new Results();
  const stolen = await StolenTime.start();
  try {
    for (let run = 1; run <= runs; run++) {
      for (const work of works) {
        for (const contender of work === RUNS ? engines : contenders) {
          if (!(await isOfInterest(contender, work))) continue;
          process.stderr.write(`\rrun ${run} of ${runs}: ${work}, ${contender}`.padEnd(60));
          // One failed measurement must not discard half an hour of other figures.
          const once =
            work === RUNS
              ? runWorkflows(contender, share, ofRuns)
              : runOnce(contender, work, share, results);
          await once.catch(complain);
          if (isLeaving) return;
        }
      }
    }
  } finally {
    process.stderr.write(`\r${''.padEnd(60)}\r`);
  }
  const stolenPercent = await stolen.percent();
  const circumstances = { stolenPercent, runs, share };
  const document = documentOf(results, ofRuns, circumstances);
  if (values.json) process.stdout.write(`${JSON.stringify(document)}\n`);
  else await writeResults(document, circumstances);
}

async function isOfInterest(contender: string, work: string): Promise<boolean> {
  if (work === RUNS) return true;
  const { isVariant = false } = await CONTENDERS[contender]();
  return WORKS[work].isAboutSubmits || !isVariant;
}

/** The processes of a workflow engine are its own: their use is not measured. */
async function runWorkflows(contender: string, share: number, results: Results): Promise<void> {
  const figures = await measureRuns(contender, RUN_COUNT, share);
  for (const { name, what } of SHAPES) {
    const runsPerSecond = figures.get(name) ?? Number.NaN;
    const usage = { cpuSeconds: Number.NaN, residentMib: Number.NaN };
    results.add({ contender, work: `runs of ${what}`, figures: { runsPerSecond }, ...usage });
  }
}

async function runOnce(
  contender: string,
  work: string,
  share: number,
  results: Results,
): Promise<void> {
  current = Stage.set(contender);
  const stage = await current;
  try {
    const before = await stage.usage();
    const figures = await WORKS[work].run(stage, share);
    const after = await stage.usage();
    results.add({
      contender,
      work,
      figures,
      cpuSeconds: Math.max(0, after.cpuMs - before.cpuMs) / 1000,
      residentMib: after.residentBytes / 2 ** 20,
    });
  } catch (cause) {
    throw new Error(`${contender} could not do '${work}'`, { cause });
  } finally {
    await stage.clear();
  }
}

/** Work that is cut off fails, and needs no report. */
function complain(cause: Error): void {
  if (isLeaving) return;
  process.stderr.write(`\n${cause.stack}\n${(cause.cause as Error | undefined)?.stack ?? ''}\n`);
  process.exitCode = 1;
}

/** The run was interrupted: stops all servers. */
async function leave(exitCode: number): Promise<void> {
  isLeaving = true;
  try {
    await (await current)?.clear();
  } finally {
    process.exit(exitCode);
  }
}

let current: Promise<Stage> | undefined;
let isLeaving = false;
process.once('SIGINT', () => void leave(130));
process.once('SIGTERM', () => void leave(143));

await measure();
