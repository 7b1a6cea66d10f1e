import type { Stage } from '../stage.ts';
import { SLOTS, WARM_UP, type Work } from './work.ts';

const TASKS = 50_000;
const BULKS_AT_ONCE = 4;
/** Tasks per call while the worker runs: what a busy program submits at once. */
const CALL_TASKS = 100;
const WITHIN_MS = 120_000;

/** The backlog exists before the worker starts. */
export const drain: Work = {
  what: `${TASKS} tasks wait; from the start of a worker with ${SLOTS} slots to the end of the last handler`,
  isAboutSubmits: false,
  run: async ({ client, worker }, share) => {
    const count = Math.ceil(TASKS * share);
    const before = await warmUp({ client, worker }, count);
    await worker.call('close');
    await client.call('bulk', { count, atOnce: BULKS_AT_ONCE });
    const startedAt = await worker.call('work', { slots: SLOTS });
    const all = { count: before + count, withinMs: WITHIN_MS };
    const endedAt = (await worker.call('until', all)) ?? Number.NaN;
    return { perSecond: (count * 1000) / (endedAt - startedAt) };
  },
};

/** Submits and handlers at the same time. */
export const throughput: Work = {
  what: `submit ${TASKS} tasks, ${CALL_TASKS} per call, ${BULKS_AT_ONCE} calls at once, while a worker with ${SLOTS} slots runs; from the first submit to the end of the last handler`,
  isAboutSubmits: true,
  run: async ({ client, worker }, share) => {
    const count = Math.ceil(TASKS * share);
    const before = await warmUp({ client, worker }, count);
    const until = worker.call('until', { count: before + count, withinMs: WITHIN_MS });
    const { startedAt } = await client.call('bulk', {
      count,
      atOnce: BULKS_AT_ONCE,
      size: CALL_TASKS,
    });
    return { perSecond: (count * 1000) / (((await until) ?? Number.NaN) - startedAt) };
  },
};

/** Starts a worker and lets it run some tasks; returns how many. */
async function warmUp(
  { client, worker }: Pick<Stage, 'client' | 'worker'>,
  tasks: number,
): Promise<number> {
  const count = Math.ceil(tasks * WARM_UP);
  await worker.call('work', { slots: SLOTS });
  await client.call('bulk', { count, atOnce: BULKS_AT_ONCE, size: CALL_TASKS });
  await worker.call('until', { count, withinMs: WITHIN_MS });
  return count;
}
