/** An SDK client in a separate process, with the SDK's defaults. */
import { Sluice } from '@sluice/sdk';
import { wallClockMs } from '../path/connection.ts';
import { atRate } from './open-loop.ts';

export interface SdkClientOrder {
  readonly url: string;
  readonly tasks: number;
  /** Submits in flight at once, including the wait for the result if `waits` is set. */
  readonly inFlight: number;
  /** Tasks per second; 0 for as fast as possible. */
  readonly rate: number;
  /** Whether it waits for every result. */
  readonly waits: boolean;
}

export interface SdkClientReport {
  readonly startedAt: number;
  /** When the last submit was answered, or the last result arrived. */
  readonly endedAt: number;
  readonly cpuMs: number;
}

process.once('message', async (order: SdkClientOrder) => {
  const { url, tasks, inFlight, rate, waits } = order;
  const sluice = new Sluice({ url });
  const cpu = process.cpuUsage();
  const startedAt = wallClockMs();
  let next = 0;
  const submitOne = async (): Promise<void> => {
    next += 1;
    const task = await sluice.submit('bench', { at: wallClockMs() });
    if (waits) await task.result();
  };
  if (rate > 0) await atRate(rate, tasks, submitOne);
  else {
    const submitAll = async (): Promise<void> => {
      while (next < tasks) await submitOne();
    };
    await Promise.all(Array.from({ length: inFlight }, submitAll));
  }
  const { user, system } = process.cpuUsage(cpu);
  const report: SdkClientReport = {
    startedAt,
    endedAt: wallClockMs(),
    cpuMs: (user + system) / 1000,
  };
  process.send?.(report);
  await sluice.close();
  process.disconnect();
});
