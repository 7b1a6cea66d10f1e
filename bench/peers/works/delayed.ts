import { usageOf } from '../usage.ts';
import { SLOTS, type Work, warmUpOf } from './work.ts';

const TASKS = 100_000;
/** Number of tasks that are edited and become due. */
const EDITED = 5000;
const BULKS_AT_ONCE = 4;
/** When the edited tasks are due: a thousand per second. */
const DUE = { fromMs: 3000, perSecond: 1000 };
const LATE_MS_MAX = 20_000;

/** Reminders: many in the far future. Some are moved and become due. */
export const delayed: Work = {
  what: `create ${TASKS} tasks that are due in an hour (perSecond), edit ${EDITED} of them to be due soon, ${DUE.perSecond} a second; how late their handlers start (p50Ms, p99Ms); memory of the store for each of all (bytesEach)`,
  isAboutSubmits: false,
  run: async ({ store, client, worker }, share) => {
    const edited = Math.ceil(EDITED * share);
    await client.call('delayed', { count: warmUpOf(TASKS), atOnce: BULKS_AT_ONCE });
    const before = await usageOf([store.pid]);
    // Always the full number, for the memory of each; see `memory`.
    const submits = { count: TASKS, atOnce: BULKS_AT_ONCE };
    const { startedAt, endedAt } = await client.call('delayed', submits);
    const after = await usageOf([store.pid]);
    await worker.call('work', { slots: SLOTS });
    const toMs = DUE.fromMs + (edited * 1000) / DUE.perSecond;
    const { dueAt } = await client.call('edit', { count: edited, fromMs: DUE.fromMs, toMs });
    await worker.call('until', { count: edited, withinMs: toMs + LATE_MS_MAX * share });
    const starts = await worker.call('allStarts');
    const lateMs = starts.map(({ n, at }) => at - dueAt[n]).sort((a, b) => a - b);
    return {
      perSecond: (TASKS * 1000) / (endedAt - startedAt),
      p50Ms: lateMs[Math.floor((lateMs.length - 1) * 0.5)],
      p99Ms: lateMs[Math.floor((lateMs.length - 1) * 0.99)],
      bytesEach: (after.residentBytes - before.residentBytes) / TASKS,
    };
  },
};

const EDITS = 20_000;

/** Only the edits, all to a time that the run does not reach. The first are edited before, too. */
export const delayedEdit: Work = {
  what: `edit ${EDITS} delayed tasks, a hundred per call, four calls at once`,
  isAboutSubmits: false,
  // Always the full number, as of `drain`.
  run: async ({ client }) => {
    await client.call('delayed', { count: EDITS, atOnce: BULKS_AT_ONCE });
    const times = { fromMs: 3_600_000, toMs: 7_200_000 };
    await client.call('edit', { count: warmUpOf(EDITS), ...times });
    const { startedAt, endedAt } = await client.call('edit', { count: EDITS, ...times });
    return { perSecond: (EDITS * 1000) / (endedAt - startedAt) };
  },
};
