import type { Stage } from '../stage.ts';
import { type Figures, SLOTS, type Work, warmUpOf } from './work.ts';

const TASKS = 50_000;
const BULKS_AT_ONCE = 4;
/** Tasks per call while the worker runs: what a busy program submits at once. */
const CALL_TASKS = 100;
const WITHIN_MS = 120_000;

/**
 * The backlog exists before the worker starts. Always the full number: a tenth of a second would
 * not tell contenders apart, and the rate of some falls with the length of the backlog.
 */
export const drain: Work = {
  what: `${TASKS} tasks wait; from the start of a worker with ${SLOTS} slots to the end of the last handler`,
  isAboutSubmits: false,
  run: async ({ client, worker }) => {
    const before = await warmUp({ client, worker });
    await worker.call('close');
    await client.call('bulk', { count: TASKS, atOnce: BULKS_AT_ONCE });
    const startedAt = await worker.call('work', { slots: SLOTS });
    const all = { count: before + TASKS, withinMs: WITHIN_MS };
    const endedAt = (await worker.call('until', all)) ?? Number.NaN;
    return { perSecond: (TASKS * 1000) / (endedAt - startedAt) };
  },
};

/** Submits and handlers at the same time; always the full number, as above. */
export const throughput: Work = {
  what: `submit ${TASKS} tasks, ${CALL_TASKS} per call, ${BULKS_AT_ONCE} calls at once, while a worker with ${SLOTS} slots runs; from the first submit to the end of the last handler`,
  isAboutSubmits: true,
  run: async ({ client, worker }) => {
    const before = await warmUp({ client, worker });
    return finished({ client, worker }, before, TASKS);
  },
};

const FIRST_TASKS = 5000;

/** As `throughput`, without a warm-up: what a burst after a start meets. */
export const firstTasks: Work = {
  what: `the same with the first ${FIRST_TASKS} tasks of all processes, whose code is cold`,
  isAboutSubmits: false,
  run: async ({ client, worker }) => {
    await worker.call('work', { slots: SLOTS });
    return finished({ client, worker }, 0, FIRST_TASKS);
  },
};

/** Submits tasks while a worker runs, to the end of the last handler. */
async function finished(
  { client, worker }: Pick<Stage, 'client' | 'worker'>,
  before: number,
  count: number,
): Promise<Figures> {
  const until = worker.call('until', { count: before + count, withinMs: WITHIN_MS });
  const submits = { count, atOnce: BULKS_AT_ONCE, size: CALL_TASKS };
  const { startedAt } = await client.call('bulk', submits);
  return { perSecond: (count * 1000) / (((await until) ?? Number.NaN) - startedAt) };
}

/** Starts a worker and lets it run some tasks; returns how many. */
async function warmUp({ client, worker }: Pick<Stage, 'client' | 'worker'>): Promise<number> {
  const count = warmUpOf(TASKS);
  await worker.call('work', { slots: SLOTS });
  await client.call('bulk', { count, atOnce: BULKS_AT_ONCE, size: CALL_TASKS });
  await worker.call('until', { count, withinMs: WITHIN_MS });
  return count;
}
