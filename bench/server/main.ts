/**
 * `npm run bench:server` measures what users see, with fsync on: submits over HTTP, the SDK with
 * its defaults, idle workers, a restart. Each row has its targets.
 *
 * Each row runs several times on a fresh server. The table has the median and the range.
 */
import { chooseRows } from '../arguments.ts';
import { StolenTime } from '../stolen-time.ts';
import { ROWS } from './rows.ts';

const { names, runs, share, json } = chooseRows({
  command: 'bench:server',
  names: Object.keys(ROWS),
  runs: 3,
  quickShare: 0.01,
});

interface Measured {
  readonly row: string;
  readonly metric: string;
  readonly target: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const measured: Measured[] = [];
const stolen = await StolenTime.start();
for (const row of names) {
  const { run, targets } = ROWS[row];
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

function line({ row, metric, target, median, low, high }: Measured): string {
  const range = `${rounded(low)} to ${rounded(high)}`;
  return `| ${row} | ${metric} | ${target} | ${rounded(median)} | ${range} |\n`;
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
