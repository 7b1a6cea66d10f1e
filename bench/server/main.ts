/**
 * `npm run bench:server`: what users see, with fsync on: submits over HTTP, the SDK with its
 * defaults, idle workers, a restart. Targets are those of DESIGN §12.
 *
 * Each row runs several times on a fresh server; the table has the median and the range. `--quick`
 * takes a hundredth of the tasks, once, and shows that the rows work, not how fast they are;
 * `--only NAME` takes the rows whose names begin so; `--json` prints JSON.
 */
import { parseArgs } from 'node:util';
import { StolenTime } from '../stolen-time.ts';
import { ROWS } from './rows.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '3' },
  },
});
const share = values.quick ? 0.01 : 1;
const runs = values.quick ? 1 : Number(values.runs);

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
for (const [row, { run, targets }] of Object.entries(ROWS)) {
  if (!row.startsWith(values.only)) continue;
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
    if (!values.json) process.stdout.write(line(result));
  }
}
const stolenPercent = await stolen.percent();
if (values.json) process.stdout.write(`${JSON.stringify({ results: measured, stolenPercent })}\n`);
else process.stdout.write(`\n${stolenPercent.toFixed(1)} % of the machine was given to others\n`);

function line({ row, metric, target, median, low, high }: Measured): string {
  const range = `${rounded(low)} to ${rounded(high)}`;
  return `| ${row} | ${metric} | ${target} | ${rounded(median)} | ${range} |\n`;
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
