import { parseArgs } from 'node:util';
import { findMutant, MUTANTS } from '../all-mutants.ts';
import type { Mutant } from '../mutant.ts';
import { Control, type Hunt, hunt } from './hunt.ts';
import { exitCodeOf, HUNT_HEAD, reportHunt, reportHunts } from './hunt-report.ts';

const HELP = `Usage: npm run sim:mutants -- [options]

Plants bugs into the production code, one at a time and only in the memory of a child process, and
looks for each with the simulator, with the seeds from 1 on.

  --only NAME      this one only; may be given more than once
  --minutes M      CPU minutes that each bug may take (default 10)
  --processes P    bugs that are looked for at once (default 1)
  --explain        print what was found, and how to see it again
  --list           print what there is and which promise it breaks
  --help

Exit code 0 when every bug was caught, 1 when one was not, 2 when the options make no sense.`;

const OPTIONS = {
  only: { type: 'string', multiple: true },
  minutes: { type: 'string', default: '10' },
  processes: { type: 'string', default: '1' },
  explain: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

class UsageError extends Error {}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, strict: true }).values;
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} takes a number above 0, not '${text}'`);
}

function chosen(names: readonly string[] | undefined): readonly Mutant[] {
  try {
    return names === undefined ? MUTANTS : names.map(findMutant);
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

async function main(): Promise<number> {
  const values = parse();
  const mutants = chosen(values.only);
  if (values.help === true || values.list === true) {
    const list = mutants.map(({ name, what }) => `${name}: ${what}`);
    console.log(values.help === true ? HELP : list.join('\n'));
    return 0;
  }
  const cpuMsMax = positive('minutes', values.minutes) * 60_000;
  const processes = positive('processes', values.processes);
  const control = new Control();
  const waiting = [...mutants];
  const hunts: Hunt[] = [];
  console.log(HUNT_HEAD);
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const done = await hunt(next, control, cpuMsMax);
      hunts.push(done);
      console.log(reportHunt(done));
      if (values.explain === true && done.catch !== undefined) explain(done.catch);
    }
  };
  try {
    await Promise.all(Array.from({ length: processes }, work));
  } finally {
    control.end();
  }
  console.log(reportHunts(hunts));
  for (const [seed, rule] of control.failures) {
    console.log(`seed ${seed} fails without a planted bug, too: ${rule}`);
  }
  return exitCodeOf(hunts);
}

function explain({ seed, mode, message }: NonNullable<Hunt['catch']>): void {
  console.log(`  seed ${seed}, ${mode}: ${message}`);
}

try {
  process.exitCode = await main();
} catch (cause) {
  if (!(cause instanceof UsageError)) throw cause;
  console.error(`${cause.message}\nTry 'npm run sim:mutants -- --help'.`);
  process.exitCode = 2;
}
