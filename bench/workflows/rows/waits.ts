import type { Row } from '../../row.ts';
import { WAITING } from '../definitions.ts';
import { RUN_INPUT_BYTES, RunLoad } from '../run-load.ts';
import { RunServer } from '../run-server.ts';

const RUNS = 100_000;
const BATCH = 100;

/** Runs that wait for an hour: their memory, and a restart with them. */
export const row: Row = {
  measure: async ({ share }) => {
    const runs = Math.max(10 * BATCH, RUNS * share);
    const many = runs.toLocaleString('en');
    const perRun = bytesPerRun(runs) - RUN_INPUT_BYTES;
    const memory = { what: `memory beside the payload: ${many} runs in a WAIT`, unit: 'bytes/run' };
    const restart = { what: `restart with ${many} runs in a WAIT`, unit: 's', target: '≤ 2' };
    return [
      { ...memory, value: perRun, target: '≤ 600' },
      { ...restart, value: await restartSeconds(runs) },
    ];
  },
};

function bytesPerRun(runs: number): number {
  const load = new RunLoad(WAITING);
  // The first runs allocate what every core needs once.
  startAll(load, runs / 10);
  const before = residentBytes();
  startAll(load, runs);
  return (residentBytes() - before) / runs;
}

function startAll(load: RunLoad, runs: number): void {
  for (let started = 0; started < runs; started += BATCH) {
    load.start(Math.min(BATCH, runs - started));
    while (load.hasWork) load.proceed();
  }
}

function residentBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

async function restartSeconds(runs: number): Promise<number> {
  const server = await RunServer.start(WAITING);
  try {
    await server.startRuns(runs);
    const startedAt = performance.now();
    await server.process.startAgain();
    return (performance.now() - startedAt) / 1000;
  } finally {
    await server.stop();
  }
}
