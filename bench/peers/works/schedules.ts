import { setTimeout as sleep } from 'node:timers/promises';
import { SLOTS, type Work, warmUpOf } from './work.ts';

const SCHEDULES = 10_000;

/** Times at night, so that nothing fires during the run. */
const CREATED = '0 3 * * *';
const CHANGED = '30 3 * * *';

/** Cron schedules are created. Contenders whose schedules are fixed at the start have no figure. */
export const schedules: Work = {
  what: `create ${SCHEDULES} cron schedules, as many per call as the contender takes`,
  isAboutSubmits: false,
  run: async ({ client }, share) => {
    const count = Math.ceil(SCHEDULES * share);
    await client.call('schedules', {
      count: warmUpOf(SCHEDULES),
      cron: CREATED,
      from: count,
    });
    const span = await client.call('schedules', { count, cron: CREATED });
    return span === undefined
      ? {}
      : { perSecond: (count * 1000) / (span.endedAt - span.startedAt) };
  },
};

/** The same schedules get another time. Others of them get it before the clock starts. */
export const schedulesEdit: Work = {
  what: `change the time of ${SCHEDULES} cron schedules, each once`,
  isAboutSubmits: false,
  run: async ({ client }, share) => {
    const count = Math.ceil(SCHEDULES * share);
    const warmUp = warmUpOf(SCHEDULES);
    await client.call('schedules', { count: count + warmUp, cron: CREATED });
    await client.call('schedules', { count: warmUp, cron: CHANGED, from: count });
    const span = await client.call('schedules', { count, cron: CHANGED });
    return span === undefined
      ? {}
      : { perSecond: (count * 1000) / (span.endedAt - span.startedAt) };
  },
};

const CRON_TASKS = 1000;
const MINUTE_MS = 60_000;
/** Schedules are there this long before the minute that counts. */
const AHEAD_MS = 5000;
/** A task that has not started by then is lost. */
const LATE_MS_MAX = 50_000;
/** Looking takes time from the contender. */
const LOOK_EVERY_MS = 5000;

/** All at the same minute. */
export const cron: Work = {
  what: `${CRON_TASKS} cron schedules of the same minute: how late their handlers start (p50Ms, p99Ms), and how many have not started after ${LATE_MS_MAX / 1000} s (lost)`,
  isAboutSubmits: false,
  run: async ({ client, worker }, share) => {
    const count = Math.ceil(CRON_TASKS * share);
    await worker.call('work', { slots: SLOTS, cronTasks: count });
    await client.call('schedules', { count, cron: '* * * * *' });
    const minute = Math.ceil((Date.now() + AHEAD_MS) / MINUTE_MS) * MINUTE_MS;
    const late = new Map<number, number>();
    while (late.size < count && Date.now() < minute + LATE_MS_MAX) {
      await sleep(Math.max(LOOK_EVERY_MS, minute + LOOK_EVERY_MS - Date.now()));
      for (const { n, at } of await worker.call('allStarts')) {
        if (at >= minute && !late.has(n)) late.set(n, at - minute);
      }
    }
    const lateMs = [...late.values()].sort((a, b) => a - b);
    const at = (part: number) => lateMs[Math.floor((lateMs.length - 1) * part)];
    return { p50Ms: at(0.5), p99Ms: at(0.99), lost: count - late.size };
  },
};
