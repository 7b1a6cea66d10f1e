import { SLOTS, type Work } from './work.ts';

const FOR_MS = 10_000;
const FOR_MS_MIN = 5000;
/** As many as the code needs to be warm, as lone tasks, whatever the rate that is measured. */
const WARM_UP = { rate: 2000, forMs: 6000 };
const WITHIN_MS = 30_000;

/** Open loop: the clock of a task starts when it was due. */
export function latencyAt(rate: number): Work {
  return {
    what: `${rate} tasks a second, one per call, for ${FOR_MS / 1000} s, open loop; from when a task was due to the start of its handler`,
    isAboutSubmits: true,
    run: async ({ client, worker }, share) => {
      await worker.call('work', { slots: SLOTS });
      const forMs = Math.max(FOR_MS_MIN, FOR_MS * share);
      const before = await client.call('atRate', WARM_UP);
      await worker.call('until', { count: before.length, withinMs: WITHIN_MS });
      await worker.call('forget');
      const promised = await client.call('atRate', { rate, forMs });
      const count = before.length + promised.length;
      await worker.call('until', { count, withinMs: WITHIN_MS });
      const { p50Ms, p99Ms } = await worker.call('latencies');
      return { p50Ms, p99Ms };
    },
  };
}
