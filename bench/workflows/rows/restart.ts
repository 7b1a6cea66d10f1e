import type { Row } from '../../row.ts';
import { sequence } from '../definitions.ts';
import { RunServer } from '../run-server.ts';

const RUNS = 100_000;

/** From the start of the process to the first answer, with runs whose first steps are queued. */
export const row: Row = {
  measure: async ({ share }) => {
    const server = await RunServer.start(sequence(3));
    try {
      await server.startRuns(RUNS * share);
      const startedAt = performance.now();
      await server.process.startAgain();
      const value = (performance.now() - startedAt) / 1000;
      const what = `restart with ${(RUNS * share).toLocaleString('en')} waiting runs`;
      return [{ what, unit: 's', value, target: '≤ 2' }];
    } finally {
      await server.stop();
    }
  },
};
