/**
 * Measures rows and prints their table. Each row runs several times, each time in a fresh process.
 * The table has the median and the range of all runs.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseRows } from './arguments.ts';
import type { Figure } from './row.ts';
import { StolenTime } from './stolen-time.ts';

const QUICK_SHARE = 0.01;
const RUNS_DEFAULT = 5;

/** The flags of the server, and access to the garbage collector for memory measurements. */
const NODE_FLAGS = ['--disable-proto=delete', '--max-semi-space-size=64', '--expose-gc'];

/** One row, the module whose `ROWS` has it, and the requested share. */
interface RowPlace {
  readonly name: string;
  readonly module: URL;
  readonly share: number;
  readonly runs: number;
}

async function runPhase(
  { name, module, share }: RowPlace,
  phase: string,
  folder: string,
): Promise<readonly Figure[]> {
  const program = join(import.meta.dirname, 'row-process.ts');
  const args = [module.href, name, phase, folder, String(share)];
  const child = fork(program, args, { execArgv: NODE_FLAGS });
  let figures: readonly Figure[] = [];
  child.on('message', (message) => {
    figures = message as readonly Figure[];
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`'${name}' could not ${phase}: code ${code}`);
  return figures;
}

async function runOnce(row: RowPlace): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    await runPhase(row, 'prepare', folder);
    return await runPhase(row, 'measure', folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Measured extends Omit<Figure, 'value'> {
  readonly row: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly stolenPercent: number;
}

async function measure(row: RowPlace): Promise<Measured[]> {
  const stolen = await StolenTime.start();
  const all: (readonly Figure[])[] = [];
  for (let run = 0; run < row.runs; run++) all.push(await runOnce(row));
  const stolenPercent = await stolen.percent();
  return all[0].map(({ value: _, ...figure }, place) => {
    const sorted = all.map((figures) => figures[place].value).sort((a, b) => a - b);
    return {
      row: row.name,
      ...figure,
      median: sorted[Math.floor(sorted.length / 2)],
      lowest: sorted[0],
      highest: sorted[sorted.length - 1],
      stolenPercent,
    };
  });
}

function text(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

function line(measured: Measured): string {
  const { row, what, unit, target = '–', median, lowest, highest, stolenPercent } = measured;
  const range = `${text(lowest)} to ${text(highest)}`;
  const cells = [row, what, unit, target, text(median), range, stolenPercent.toFixed(1)];
  return `| ${cells.join(' | ')} |`;
}

const COLUMNS = ['row', 'what', 'unit', 'target', 'median', 'range', 'stolen %'];

interface RowTable {
  /** Its name in `npm run`. */
  readonly command: string;
  readonly names: readonly string[];
  /** The module whose `ROWS` has them. */
  readonly module: URL;
}

export async function measureRows({ command, names, module }: RowTable): Promise<void> {
  const chosen = chooseRows({ command, names, runs: RUNS_DEFAULT, quickShare: QUICK_SHARE });
  const { json, share, runs } = chosen;
  if (!json) {
    console.log(`| ${COLUMNS.join(' | ')} |`);
    console.log(`|${COLUMNS.map(() => ' --- |').join('')}`);
  }
  const results: Measured[] = [];
  for (const name of chosen.names) {
    const measured = await measure({ name, module, share, runs });
    results.push(...measured);
    if (!json) for (const each of measured) console.log(line(each));
  }
  if (json) console.log(JSON.stringify(results, null, 2));
}
