/**
 * Runs a server under a steady load and shows that its data folder stays within a bound.
 *
 *   npm run test:disk -- --minutes 10 [--fold-mib 16] [--tasks-per-second 1000]
 *
 * The bound comes from decision 7: the log of two folds, the log that is written while they run
 * (estimated as the same amount again), spare segments, and three snapshots, one of them
 * unfinished.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectHttp } from '../support/http-client.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openWorkerStream, sendReports } from '../support/worker-client.ts';
import { DataFolder, startSmallServer } from './data-folder.ts';

const MIB = 2 ** 20;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    'fold-mib': { type: 'string', default: '16' },
    'tasks-per-second': { type: 'string', default: '1000' },
    /** Ends early after this many trims. */
    trims: { type: 'string', default: 'Infinity' },
  },
});
const foldBytes = Number(values['fold-mib']) * MIB;
const tasksPerSecond = Number(values['tasks-per-second']);
const TASKS_PER_SUBMIT = 100;
const SUBMITTERS = 3;
/** Few finished tasks keep the snapshots small. The test is about the size of the log. */
const FINISHED_TASKS_MAX = 5000;
const BACKLOG_MAX = 2000;
const LOOK_EVERY_MS = 100;
const SEGMENTS_BESIDE = 6;
const SEGMENTS_PER_SNAPSHOT = 4;

const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
const data = new DataFolder(join(folder, 'data'));
const server = await startSmallServer({
  dataFolder: data.path,
  snapshotEveryBytes: foldBytes,
  finishedTasksMax: FINISHED_TASKS_MAX,
});
const [submitting, working] = [connectHttp('h2c', server.url), connectHttp('h2c', server.url)];
const input = { text: 'x'.repeat(1000) };
const tasks = Array(TASKS_PER_SUBMIT).fill({ type: 'load', input });
let isRunning = true;
let submitted = 0;
let finished = 0;

function work(): void {
  let session = '';
  const request = { name: 'worker', types: [{ type: 'load' }], capacity: { slots: 1000 } };
  openWorkerStream(working, request, {
    onWelcome: ({ sessionId }) => {
      session = sessionId;
    },
    onTasks: (pushed) => {
      const reports = pushed.map(({ lease }) => {
        return { lease, kind: 'succeeded', output: input } as const;
      });
      sendReports(working, session, { reports }).then(
        (outcomes) => {
          finished += outcomes.length;
        },
        () => undefined,
      );
    },
  });
}

async function submitOn(): Promise<void> {
  const startedAt = performance.now();
  const isDue = (): boolean =>
    submitted <= ((performance.now() - startedAt) / 1000) * tasksPerSecond;
  const hasRoom = (): boolean => submitted - finished < BACKLOG_MAX;
  const mayGoOn = (): boolean => !isRunning || (isDue() && hasRoom());
  while (isRunning) {
    await waitUntil(mayGoOn, { what: 'the worker keeps up', timeoutMs: 60_000 });
    const { status, text } = await submitting.send({
      method: 'POST',
      path: '/v1/tasks',
      body: tasks,
    });
    if (status !== 201) throw new Error(`a submit was answered with ${status}: ${text}`);
    submitted += TASKS_PER_SUBMIT;
  }
}

interface Peaks {
  log: number;
  snapshots: number;
  saved: number;
  trims: number;
}

/** Watches the folder until the time is up, and returns the peaks. */
async function look(): Promise<Peaks> {
  const peaks: Peaks = { log: 0, snapshots: 0, saved: 0, trims: 0 };
  const endsAt = performance.now() + Number(values.minutes) * 60_000;
  let { newestPosition, firstRecord } = data;
  while (performance.now() < endsAt && peaks.trims < Number(values.trims)) {
    const used = data.usedBytes;
    peaks.log = Math.max(peaks.log, used.log);
    peaks.snapshots = Math.max(peaks.snapshots, used.snapshots);
    if (data.newestPosition !== newestPosition) peaks.saved += 1;
    if (data.firstRecord !== firstRecord) peaks.trims += 1;
    ({ newestPosition, firstRecord } = data);
    if (server.hasCrashed) throw new Error(`the server ended: ${server.lastOutput}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return peaks;
}

let hasFailed = true;
try {
  work();
  const load = Array.from({ length: SUBMITTERS }, submitOn);
  const peaks = await Promise.race([look(), Promise.all(load).then(() => look())]);
  isRunning = false;
  await Promise.all(load);

  const bound = 4 * foldBytes + (SEGMENTS_BESIDE * foldBytes) / SEGMENTS_PER_SNAPSHOT;
  const mib = (bytes: number): string => (bytes / MIB).toFixed(1);
  console.log(`${finished} tasks finished, ${peaks.saved} snapshots, ${peaks.trims} trims`);
  console.log(`log at most ${mib(peaks.log)} MiB, bound ${mib(bound)} MiB`);
  console.log(`snapshots at most ${mib(peaks.snapshots)} MiB`);
  console.log(`${data.snapshots.length} snapshots are kept`);
  hasFailed = peaks.log > bound || peaks.trims < 3 || data.snapshots.length !== 2;
} catch (cause) {
  console.log(cause);
} finally {
  await server.kill();
  for (const http of [submitting, working]) http.close();
  rmSync(folder, { recursive: true });
}
console.log(hasFailed ? 'FAILED' : 'ok');
process.exit(hasFailed ? 1 : 0);
