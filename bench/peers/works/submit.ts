import type { Span } from '../client-role.ts';
import { type Figures, type Work, warmUpOf } from './work.ts';

/** Calls in flight at once. */
const BULKS_AT_ONCE = 4;
const SINGLES_AT_ONCE = 64;

const BULK_TASKS = 50_000;
const SINGLE_TASKS = 10_000;

export const submitBulk: Work = {
  what: `submit ${BULK_TASKS} tasks, as many per call as the contender advises, ${BULKS_AT_ONCE} calls at once`,
  isAboutSubmits: true,
  // Always the full number, as of `drain`.
  run: async ({ client }) => {
    await client.call('bulk', { count: warmUpOf(BULK_TASKS), atOnce: BULKS_AT_ONCE });
    const submits = { count: BULK_TASKS, atOnce: BULKS_AT_ONCE };
    return rate(BULK_TASKS, await client.call('bulk', submits));
  },
};

export const submitSingle: Work = {
  what: `submit ${SINGLE_TASKS} tasks, one per call, ${SINGLES_AT_ONCE} calls at once`,
  isAboutSubmits: true,
  run: async ({ client }, share) => {
    const count = Math.ceil(SINGLE_TASKS * share);
    await client.call('single', { count: warmUpOf(SINGLE_TASKS), atOnce: SINGLES_AT_ONCE });
    return rate(count, await client.call('single', { count, atOnce: SINGLES_AT_ONCE }));
  },
};

function rate(count: number, { startedAt, endedAt }: Span): Figures {
  return { perSecond: (count * 1000) / (endedAt - startedAt) };
}
