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
  /** Of the full number of tasks. */
  readonly share: number;
}

/** All that was measured, as JSON. */
interface Document {
  readonly results: readonly Result[];
  /** Of workflow engines. */
  readonly runs: readonly Result[];
  readonly share: number;
  readonly stolenPercent: number;
}

export function documentOf(
  results: Results,
  runs: Results,
  { share, stolenPercent }: Circumstances,
): Document {
  return { results: results.all(), runs: runs.all(), share, stolenPercent };
}

/** Prints the tables, and writes them with the chart and all figures to `bench/results`. */
export async function writeResults(document: Document, about: Circumstances): Promise<void> {
  const { results, runs } = document;
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'results.md'), await pageOf(document, about));
  await writeFile(join(FOLDER, 'chart.svg'), chartOf(results));
  await writeFile(join(FOLDER, 'results.json'), `${JSON.stringify(document, null, 2)}\n`);
  const tables = [results, runs].filter(({ length }) => length > 0).map(tableOf);
  process.stdout.write(`${tables.join('\n')}\nwritten to ${relative(process.cwd(), FOLDER)}\n`);
}

async function pageOf(document: Document, about: Circumstances): Promise<string> {
  const { results: all, runs: ofRuns } = document;
  const { stolenPercent, runs, share } = about;
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
## Runs of workflows

64 runs at once, each with about 200 bytes of input; a step does next to nothing. DBOS keeps its runs in PostgreSQL,
Restate in its own server.

${tableOf(ofRuns)}
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
