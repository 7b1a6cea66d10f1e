import type { Row } from '../../row.ts';
import { startWorkers } from '../../server/through-sdk.ts';
import { dynamicFork } from '../definitions.ts';
import { RunServer } from '../run-server.ts';

const BRANCHES = 10_000;
const RUNS = 10;

/** From the end of the last branch to the end of the join, by the times that the server shows. */
export const row: Row = {
  measure: async ({ share }) => {
    const server = await RunServer.start(dynamicFork(BRANCHES));
    const worker = await startWorkers({ url: server.url, workers: 1, tasks: 0 });
    try {
      const delays: number[] = [];
      for (let run = 0; run < Math.max(3, RUNS * share); run++) {
        const [id] = await server.startRuns(1);
        await server.succeeded(id);
        const steps = await server.steps(id);
        const joined = steps.find(({ reference }) => reference === 'join');
        const branches = steps.filter(({ reference }) => reference.startsWith('_bench_'));
        const arrived = branches.reduce((latest, { endedAt }) => {
          return Math.max(latest, Date.parse(endedAt ?? ''));
        }, 0);
        if (branches.length !== BRANCHES) throw new Error(`${branches.length} branches`);
        delays.push(Date.parse(joined?.endedAt ?? '') - arrived);
      }
      const sorted = delays.toSorted((a, b) => a - b);
      const what = `join after ${BRANCHES} branches`;
      return [
        { what: `${what}: median`, unit: 'ms', value: sorted[Math.floor(sorted.length / 2)] },
        { what: `${what}: longest`, unit: 'ms', value: sorted.at(-1) ?? 0, target: '≤ 50' },
      ];
    } finally {
      worker.kill('SIGKILL');
      await server.stop();
    }
  },
};
