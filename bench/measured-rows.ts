import { chooseRows } from './arguments.ts';
import { StolenTime } from './stolen-time.ts';

/** A row that runs on a fresh server: figures by metric, and their targets. */
export interface ServerRow {
  readonly run: (share: number) => Promise<Readonly<Record<string, number>>>;
  readonly targets: Readonly<Record<string, string>>;
}

interface Bench {
  readonly command: string;
  readonly rows: Readonly<Record<string, ServerRow>>;
  readonly runs: number;
  readonly quickShare: number;
}

/** Runs each chosen row several times, and prints the median and the range of each metric. */
export async function measureRows({ command, rows, ...habits }: Bench): Promise<void> {
  const { names, runs, share, json } = chooseRows({ command, names: Object.keys(rows), ...habits });
  const measured: Measured[] = [];
  const stolen = await StolenTime.start();
  for (const row of names) {
    const { run, targets } = rows[row];
    const figures: Readonly<Record<string, number>>[] = [];
    for (let n = 0; n < runs; n++) figures.push(await run(share));
    for (const metric of Object.keys(figures[0])) {
      const sorted = figures.map((each) => each[metric]).sort((a, b) => a - b);
      const result: Measured = {
        row,
        metric,
        target: targets[metric] ?? '–',
        median: sorted[Math.floor(sorted.length / 2)],
        low: sorted[0],
        high: sorted[sorted.length - 1],
      };
      measured.push(result);
      if (!json) process.stdout.write(line(result));
    }
  }
  const stolenPercent = await stolen.percent();
  if (json) process.stdout.write(`${JSON.stringify({ results: measured, stolenPercent })}\n`);
  else process.stdout.write(`\n${stolenPercent.toFixed(1)} % of the machine was given to others\n`);
}

interface Measured {
  readonly row: string;
  readonly metric: string;
  readonly target: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

function line({ row, metric, target, median, low, high }: Measured): string {
  const range = `${rounded(low)} to ${rounded(high)}`;
  return `| ${row} | ${metric} | ${target} | ${rounded(median)} | ${range} |\n`;
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
