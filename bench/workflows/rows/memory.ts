import type { Figure, Row } from '../../row.ts';
import { type Definition, fork, sequence } from '../definitions.ts';
import { RUN_INPUT_BYTES, RunLoad } from '../run-load.ts';

const BATCH = 100;
const RUNS = 300_000;
const BRANCHES = 100;

/** Memory of runs whose tasks wait in a queue. */
export const row: Row = {
  measure: async ({ share }) => {
    const runs = Math.max(10 * BATCH, RUNS * share);
    const inForks = Math.max(2 * BATCH, runs / BRANCHES);
    const perRun = bytesPerRun(sequence(3), runs);
    const perFork = bytesPerRun(fork(BRANCHES), inForks);
    // Each branch has an input of the same size as the run.
    const perBranch = (perFork - RUN_INPUT_BYTES) / BRANCHES - RUN_INPUT_BYTES;
    return [
      figure('3 steps, the first one queued', 'bytes/run', perRun - 2 * RUN_INPUT_BYTES, '≤ 600'),
      figure(`${BRANCHES} queued branches`, 'bytes/step', perBranch, '≤ 200'),
    ];
  },
};

function figure(what: string, unit: string, value: number, target: string): Figure {
  return { what: `memory beside the payload: ${what}`, unit, value, target };
}

function bytesPerRun(definition: Definition, runs: number): number {
  const load = new RunLoad(definition);
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
