/**
 * Kills a server again and again while runs with forks and runs below them are under way. Every
 * acknowledged run must end with the right output, and no handler may run twice.
 *
 *   npm run test:kill-runs -- [--runs 4000] [--at-once 2000] [--kills 20] [--fold-kib 64]
 *
 * `--at-once` is the number of runs in flight. With `--fold-kib` the server folds the log into a
 * snapshot after this much of it, so that servers start from snapshots.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DataFolder, startSmallServer } from './data-folder.ts';
import { RunLoad } from './run-load.ts';
import { judgeRuns } from './run-verdict.ts';

const SDK_WORKER = fileURLToPath(new URL('./sdk-worker.ts', import.meta.url));
/** Longer than any server is away. */
const LEASE_MS = 30_000;
const TIMEOUT_MS = 300_000;
const PROBLEMS_SHOWN_MAX = 20;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    'at-once': { type: 'string', default: '200' },
    kills: { type: 'string', default: '5' },
    'fold-kib': { type: 'string' },
  },
});
const [runs, kills, atOnce] = [values.runs, values.kills, values['at-once']].map(Number);

async function handlerRuns(file: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const line of (await readFile(file, 'utf8')).split('\n').slice(0, -1)) {
    const [id] = line.split(' ');
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  return times;
}

/** Servers one after the other, on the same folder and port. */
class Servers {
  private readonly folder: string;
  private readonly foldBytes: number | undefined;
  current: ServerProcess | undefined;

  constructor(folder: string, foldKib: string | undefined) {
    this.folder = folder;
    this.foldBytes = foldKib === undefined ? undefined : Number(foldKib) * 1024;
  }

  async start(): Promise<string> {
    const port = this.current === undefined ? 0 : Number(new URL(this.current.url).port);
    const { folder: dataFolder, foldBytes: snapshotEveryBytes } = this;
    this.current =
      snapshotEveryBytes === undefined
        ? await ServerProcess.startDev(dataFolder, undefined, port)
        : await startSmallServer({ dataFolder, snapshotEveryBytes, port });
    return this.current.url;
  }

  async kill(): Promise<void> {
    await this.current?.kill();
  }
}

/** Kills are spread over the runs. Half of them come as soon as anything has happened. */
async function killAgainAndAgain(servers: Servers, load: RunLoad): Promise<number> {
  const each = Math.floor(runs / (kills + 1));
  for (let kill = 0; kill < kills; kill++) {
    const due = kill % 2 === 0 ? load.ended + 1 : each * (kill + 1);
    const isTime = (): boolean => load.ended >= Math.min(due, runs - 1);
    await waitUntil(isTime, { what: `it is time for kill ${kill}`, timeoutMs: TIMEOUT_MS });
    const { length } = load.runs;
    console.log(`kill ${kill + 1}: ${length - load.ended} runs in flight, ${load.ended} ended`);
    await servers.kill();
    await servers.start();
  }
  return kills;
}

async function play(folder: string): Promise<readonly string[]> {
  const runsFile = join(folder, 'runs');
  await writeFile(runsFile, '');
  const servers = new Servers(join(folder, 'data'), values['fold-kib']);
  const url = await servers.start();
  const workers: ServerProcess[] = [];
  try {
    const load = new RunLoad(url, runs);
    await load.register();
    const played = load.play(atOnce);
    // Nothing ends before there is a worker, so that all of them are in flight at the first kill.
    const isFull = (): boolean => load.runs.length >= Math.min(atOnce, runs);
    await waitUntil(isFull, { what: 'the runs have started', timeoutMs: TIMEOUT_MS });
    for (const name of ['a', 'b']) {
      const args = [SDK_WORKER, url, name, String(LEASE_MS), runsFile];
      workers.push(await ServerProcess.start({ command: process.execPath, args }));
    }
    await Promise.all([played, killAgainAndAgain(servers, load)]);
    if (values['fold-kib'] !== undefined) {
      console.log(`${new DataFolder(join(folder, 'data')).snapshots.length} snapshots`);
    }
    console.log(`${load.ended} runs ended, ${load.repeated} requests repeated`);
    return judgeRuns(load.runs, await handlerRuns(runsFile));
  } finally {
    for (const worker of workers) await worker.kill();
    await servers.kill();
  }
}

// Without this, a signal would end the program before it can end its server.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const folder = await mkdtemp(join(tmpdir(), 'sluice-run-kills-'));
const problems = await play(folder);
for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) console.log(`violation: ${problem}`);
console.log(`${problems.length} violations`);
if (problems.length === 0) await rm(folder, { recursive: true });
else console.log(`FAILED; the data is kept in ${folder}`);
process.exit(problems.length === 0 ? 0 : 1);
