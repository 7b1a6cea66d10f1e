import type { Row } from '../../row.ts';
import { dynamicFork } from '../definitions.ts';
import { RunServer } from '../run-server.ts';

const BRANCHES = 10_000;
const READS = 30;

/** How long an answer with a large run takes. Its tasks wait in a queue. */
export const row: Row = {
  measure: async ({ share }) => {
    const branches = Math.max(100, BRANCHES * share);
    const server = await RunServer.start(dynamicFork(branches));
    try {
      const [id] = await server.startRuns(1);
      await server.entered(id, branches);
      const times: number[] = [];
      for (let n = 0; n < READS; n++) {
        const startedAt = performance.now();
        await server.view(id);
        times.push(performance.now() - startedAt);
      }
      times.sort((a, b) => a - b);
      const what = `GET /v1/runs/{id} with ${branches.toLocaleString('en')} steps`;
      return [
        { what: `${what}, median`, unit: 'ms', value: times[READS / 2], target: '≤ 100' },
        { what: `${what}, slowest`, unit: 'ms', value: times[READS - 1] },
      ];
    } finally {
      await server.stop();
    }
  },
};
