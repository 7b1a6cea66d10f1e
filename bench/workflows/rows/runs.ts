import { wallClockMs } from '../../path/connection.ts';
import type { Row } from '../../row.ts';
import type { SdkWorkerReport } from '../../server/sdk-worker.ts';
import { message, startWorkers } from '../../server/through-sdk.ts';
import type { Definition } from '../definitions.ts';
import { RunServer } from '../run-server.ts';

interface RunsRow {
  readonly what: string;
  readonly definition: Definition;
  /** Tasks of one run. */
  readonly tasks: number;
  readonly runs: number;
  readonly target?: string;
}

/** From the first start to the last end, over loopback, with a worker of the SDK. */
export function runsRow({ what, definition, tasks, runs, target }: RunsRow): Row {
  return {
    measure: async ({ share }) => {
      const count = Math.round(runs * share);
      const server = await RunServer.start(definition);
      const { url } = server;
      const worker = await startWorkers({ url, workers: 1, tasks: count * tasks });
      try {
        const cpuBefore = await server.process.cpuMs();
        const handled = message<SdkWorkerReport>(worker);
        const startedAt = wallClockMs();
        const last = await server.startRuns(count);
        await handled;
        // Their tasks were handled, so all that is left is their ends.
        await Promise.all(last.map((id) => server.succeeded(id)));
        const seconds = (wallClockMs() - startedAt) / 1000;
        const cpuMs = (await server.process.cpuMs()) - cpuBefore;
        const goal = target === undefined ? {} : { target };
        return [
          { what, unit: 'runs/s', value: count / seconds, ...goal },
          { what: `${what}: server`, unit: 'µs/step', value: (cpuMs * 1000) / (count * tasks) },
        ];
      } finally {
        worker.kill('SIGKILL');
        await server.stop();
      }
    },
  };
}
