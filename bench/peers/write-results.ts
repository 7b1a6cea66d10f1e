import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { chartOf } from './chart.ts';
import { CONTENDERS } from './contenders.ts';
import type { Result, Results } from './results.ts';
import { tableOf, usageTableOf } from './table.ts';
import { WORKS } from './works/works.ts';

const FOLDER = join(import.meta.dirname, '../results');

interface Circumstances {
  readonly stolenPercent: number;
  readonly runs: number;
}

/** Prints the table, and writes it with the chart and all figures to `bench/results`. */
export async function writeResults(results: Results, circumstances: Circumstances): Promise<void> {
  const all = results.all();
  const page = await pageOf(all, results.share, circumstances);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'results.md'), page);
  await writeFile(join(FOLDER, 'chart.svg'), chartOf(all));
  const document = results.document(circumstances.stolenPercent);
  await writeFile(join(FOLDER, 'results.json'), `${JSON.stringify(document, null, 2)}\n`);
  process.stdout.write(`${tableOf(all)}\nwritten to ${relative(process.cwd(), FOLDER)}\n`);
}

async function pageOf(
  all: readonly Result[],
  share: number,
  { stolenPercent, runs }: Circumstances,
): Promise<string> {
  const [{ model }] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const machine = `${cpus().length} × ${model}, ${gib} GiB, Node ${process.version}`;
  const part = share < 1 ? ` --quick (${share} of the tasks)` : '';
  const names = [...new Set(all.map(({ contender }) => contender))];
  const contenders = await Promise.all(
    names.map(async (name) => {
      const { durability, settings } = await CONTENDERS[name]();
      return `| ${name} | ${versionOf(name)} | ${durability} | ${settings} |`;
    }),
  );
  const works = [...new Set(all.map(({ work }) => work))];
  return `# Sluice and its peers

\`npm run bench\`${part}, ${new Date().toISOString().slice(0, 10)}, ${machine}; clients, workers and servers on the same
machine; ${runs} run${runs === 1 ? '' : 's'} each, in turns; median, range in brackets. ${stolenPercent.toFixed(1)} % of the machine was given to others by its
host meanwhile. In the last column more is better for Sluice, in every row.

${tableOf(all)}
## Contenders

| contender | version | a submit that was answered is | settings |
| --- | --- | --- | --- |
${contenders.join('\n')}

## Works

| work | what |
| --- | --- |
${works.map((work) => `| ${work} | ${WORKS[work].what} |`).join('\n')}

## CPU and resident memory of all processes of a contender

${usageTableOf(all)}`;
}

function versionOf(contender: string): string {
  const manifest = join(import.meta.dirname, 'packages/package.json');
  const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return dependencies[contender.replace('-always', '')] ?? 'this tree';
}
