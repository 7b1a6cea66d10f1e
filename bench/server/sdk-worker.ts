/**
 * SDK workers in a separate process, with the SDK's defaults. The handler does nothing. It reports
 * when the workers are connected, and the measurements when the last task was handled.
 */
import { defineTask, Sluice } from '@sluice/sdk';
import { wallClockMs } from '../path/connection.ts';

export interface SdkWorkerOrder {
  readonly url: string;
  readonly workers: number;
  /** Number of tasks after which it reports; 0 for never. */
  readonly tasks: number;
}

export interface SdkWorkerReport {
  readonly finishedAt: number;
  readonly cpuMs: number;
  /** From the time in the input to the handler, sorted. */
  readonly latenciesMs: readonly number[];
}

process.once('message', async ({ url, workers, tasks }: SdkWorkerOrder) => {
  const latenciesMs: number[] = [];
  const cpu = process.cpuUsage();
  const bench = defineTask({
    type: 'bench',
    run({ at }: { at: number }) {
      latenciesMs.push(wallClockMs() - at);
      if (latenciesMs.length !== tasks) return;
      const { user, system } = process.cpuUsage(cpu);
      latenciesMs.sort((a, b) => a - b);
      const report: SdkWorkerReport = {
        finishedAt: wallClockMs(),
        cpuMs: (user + system) / 1000,
        latenciesMs,
      };
      process.send?.(report);
    },
  });
  const sluice = new Sluice({ url });
  await Promise.all(
    Array.from({ length: workers }, (_, n) => sluice.work([bench], { name: `bench-${n}` })),
  );
  process.send?.('connected');
});
