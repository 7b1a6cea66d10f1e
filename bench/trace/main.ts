/**
 * `npm run bench:trace` follows tasks that come alone, from the client's call to the answer to the
 * worker's report, and prints the median of each phase. With `--picture` it draws them.
 */
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../arguments.ts';
import { ServerProcess } from '../path/server-process.ts';
import { message } from '../server/through-sdk.ts';
import type { Mark } from './marks.ts';
import { HANDLER, PHASES, phaseTimes } from './phases.ts';
import { pictureOf } from './picture.ts';

const HELP = `Usage: npm run bench:trace -- [options]

Where the time of a lone task goes, phase by phase: the median and the ninth of ten.

  --tasks N        how many are followed (default 1000)
  --warm-up N      how many run before (default 8000)
  --picture FILE   also draws the medians as SVG
  --help
`;
const values = readArguments(HELP, {
  tasks: { type: 'string', default: '1000' },
  'warm-up': { type: 'string', default: '8000' },
  picture: { type: 'string' },
});

const folder = await mkdtemp(join(tmpdir(), 'sluice-trace-'));
try {
  const times = phaseTimes(await trace());
  if (times.length === 0) throw new Error('no task was alone; the machine is too busy');
  const atShare = (share: number) =>
    PHASES.map((_, phase) => {
      const sorted = times.map((each) => each[phase]).sort((a, b) => a - b);
      return sorted[Math.floor(sorted.length * share)];
    });
  const [medians, ninths] = [atShare(0.5), atShare(0.9)];
  process.stdout.write(`${table(medians, ninths)}\n\n${times.length} tasks were alone\n`);
  const toHandler = times.map((each) => sum(each.slice(0, HANDLER))).sort((a, b) => a - b);
  const median = toHandler[Math.floor(toHandler.length / 2)];
  process.stdout.write(`${median.toFixed(0)} µs from the call to the handler (p50)\n`);
  if (values.picture !== undefined) {
    const title = `A lone task, ${sum(medians).toFixed(0)} µs: medians of ${times.length} tasks`;
    await writeFile(values.picture, pictureOf(medians, title));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function trace(): Promise<Mark[]> {
  const files = ['server', 'client', 'worker'].map((name) => join(folder, `${name}.json`));
  process.env.SLUICE_MARKS = files[0];
  const watching = join(import.meta.dirname, 'watch-server.ts');
  const server = await ServerProcess.startSources(['--import', watching]);
  delete process.env.SLUICE_MARKS;
  const client = fork(join(import.meta.dirname, 'watched-client.ts'));
  const worker = fork(join(import.meta.dirname, 'watched-worker.ts'));
  try {
    worker.send({ url: server.url });
    await message(worker);
    const [tasks, warmUp] = [Number(values.tasks), Number(values['warm-up'])];
    client.send({ url: server.url, tasks, warmUp, path: files[1] });
    await message(client);
    worker.send({ path: files[2] });
    await message(worker);
  } finally {
    client.kill('SIGKILL');
    worker.kill('SIGKILL');
    await server.stop();
  }
  const saved = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return saved.flatMap((text) => JSON.parse(text) as Mark[]);
}

function sum(times: readonly number[]): number {
  return times.reduce((all, us) => all + us, 0);
}

function table(medians: readonly number[], ninths: readonly number[]): string {
  const rows = PHASES.map(({ lane, what }, phase) => {
    const [median, ninth] = [medians[phase], ninths[phase]].map((us) => us.toFixed(0));
    return `| ${phase + 1} | ${lane} | ${what} | ${median} | ${ninth} |`;
  });
  return ['| | where | what | p50 µs | p90 µs |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}
