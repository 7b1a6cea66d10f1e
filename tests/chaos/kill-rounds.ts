/**
 * Kills a loaded server again and again. A journal outside of the server then shows that nothing
 * acknowledged was lost and nothing was done twice.
 *
 *   npm run test:kill -- --rounds 1000 [--seed S] [--protocol http1|h2c] [--fold-kib N]
 *
 * With `--fold-kib` the server folds the log into a snapshot after this much of it. A small value
 * makes it fold all the time: then kills interrupt folds, and servers start from snapshots.
 *
 * A seed repeats the choices, not the timing of the two processes. After a failure the journal is
 * kept: it is the evidence, not the seed.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Protocol } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { DataFolder, startSmallServer } from './data-folder.ts';
import { Journal, readJournal } from './journal.ts';
import { IN_FLIGHT_MIN } from './kill-moment.ts';
import { Ledger } from './ledger.ts';
import { Random } from './random.ts';
import { type Round, Rounds } from './rounds.ts';
import { judge, type Rule, type Verdict } from './verdict.ts';

interface Options {
  readonly rounds: number;
  readonly seed: number;
  /** Undefined: the protocols alternate. */
  readonly protocol: Protocol | undefined;
  /** Undefined: the default of the server. */
  readonly foldBytes: number | undefined;
}

const ROUNDS_DEFAULT = 50;
/** In the first of each group of this many rounds, the server is paused before the kill. */
const STANDSTILL_EVERY = 25;
const REPEATS_MAX = 10;
const VIOLATIONS_SHOWN_MAX = 20;

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: String(ROUNDS_DEFAULT) },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
      protocol: { type: 'string' },
      'fold-kib': { type: 'string' },
    },
  });
  const { protocol } = values;
  if (protocol !== undefined && protocol !== 'http1' && protocol !== 'h2c') {
    throw new Error(`--protocol takes http1 or h2c, not '${protocol}'`);
  }
  const foldKib = values['fold-kib'];
  return {
    rounds: wholeNumber(values.rounds),
    seed: wholeNumber(values.seed),
    protocol,
    foldBytes: foldKib === undefined ? undefined : wholeNumber(foldKib) * 1024,
  };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`'${text}' is not a whole number`);
  return Number(text);
}

/** At most this many times as many rounds as asked for. */
const MORE_ROUNDS = 5;

async function playRound(rounds: Rounds, round: Round): Promise<void> {
  const { number, protocol, standsStill } = round;
  for (let repeat = 0; repeat <= REPEATS_MAX; repeat++) {
    const { inFlight, acked, recoveredMs } = await rounds.play(round);
    const counts = inFlight >= IN_FLIGHT_MIN;
    const verb = counts ? '' : 'repeated: ';
    console.log(
      `round ${number}: ${verb}${protocol}, ${standsStill ? 'stopped for a while, ' : ''}` +
        `${inFlight} requests in flight at the kill, ` +
        `${acked} acked, recovered in ${recoveredMs} ms`,
    );
    if (counts) return;
  }
  throw new Error(`round ${number} never had ${IN_FLIGHT_MIN} requests in flight at the kill`);
}

async function play(options: Options, folder: string): Promise<Verdict> {
  const journalPath = join(folder, 'journal.jsonl');
  const dataFolder = join(folder, 'data');
  mkdirSync(dataFolder);
  const journal = new Journal(journalPath);
  const ledger = new Ledger(journal);
  const random = new Random(options.seed);
  const { foldBytes } = options;
  const startServer = (folder: string): Promise<ServerProcess> =>
    foldBytes === undefined
      ? ServerProcess.startDev(folder)
      : startSmallServer({ dataFolder: folder, snapshotEveryBytes: foldBytes });
  const rounds = await Rounds.start({ dataFolder, ledger, random, startServer });
  try {
    const data = new DataFolder(dataFolder);
    // On a slow machine, kills end nearly every fold. Further rounds go on until one has ended.
    const lacksFolds = (): boolean => foldBytes !== undefined && data.snapshots.length === 0;
    const most = options.rounds * MORE_ROUNDS;
    for (let number = 1; number <= options.rounds || (lacksFolds() && number <= most); number++) {
      const turn = number % 2 === 1 ? 'http1' : 'h2c';
      const protocol = options.protocol ?? turn;
      await playRound(rounds, { number, protocol, standsStill: number % STANDSTILL_EVERY === 1 });
    }
    await rounds.drain();
    console.log(`${data.snapshots.length} snapshots, the log begins with ${data.firstRecord}`);
  } finally {
    await rounds.close();
    journal.close();
  }
  return judge(readJournal(journalPath));
}

function printVerdict({ violations, counts }: Verdict): void {
  const count = (rule: Rule): number => violations.filter((each) => each.rule === rule).length;
  console.log(
    `${counts.acked} tasks acked, ${counts.pushed} pushed, ` +
      `${counts.unanswered} submits without an answer`,
  );
  console.log(
    `${counts.resumed} leases held across a kill, ${counts.sentAgain} reports sent again, ` +
      `${counts.duplicates} of them heard duplicate`,
  );
  console.log(
    `${counts.resubmitted} submits sent again by their keys, ${counts.delayed} delayed tasks, ` +
      `${counts.failures} failed attempts`,
  );
  console.log(
    `${count('lost')} lost, ${count('finished_twice')} finished twice, ` +
      `${count('pushed_while_held')} pushed again while held, ${count('attempt_spent')} attempts spent, ` +
      `${count('half_batch')} half batches, ${count('early')} early, ${count('lease_lost')} leases lost, ` +
      `${count('wrong_outcome')} wrong outcomes, ${count('wrong_answer')} wrong answers`,
  );
  for (const { rule, problem } of violations.slice(0, VIOLATIONS_SHOWN_MAX)) {
    console.log(`violation: ${rule}: ${problem}`);
  }
}

// Without this, a signal would end the program before it can end its server.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const options = readOptions(process.argv.slice(2));
console.log(`seed ${options.seed}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
let hasFailed = true;
try {
  const verdict = await play(options, folder);
  printVerdict(verdict);
  hasFailed = verdict.violations.length > 0;
} catch (cause) {
  console.log(cause);
}
if (hasFailed) {
  console.log(`FAILED with --seed ${options.seed}; journal and data are kept in ${folder}`);
} else {
  rmSync(folder, { recursive: true });
}
process.exit(hasFailed ? 1 : 0);
