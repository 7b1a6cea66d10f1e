import { setTimeout as sleep } from 'node:timers/promises';
import type { Work } from './work.ts';

const LOW = 10_000;
const URGENT = 20;
/** Few slots and slow handlers, so that a backlog stays. */
const SLOTS = 10;
const HANDLER_MS = 10;
const EVERY_MS = 150;
const EVERY_MS_MIN = 50;

/** Urgent tasks behind a backlog. */
export const priority: Work = {
  what: `${LOW} tasks of ${HANDLER_MS} ms wait for ${SLOTS} slots; ${URGENT} urgent ones are submitted one by one; how many others start between the submit of an urgent one and its handler (overtaking, mean), and how long it waits (p50Ms, p99Ms)`,
  isAboutSubmits: false,
  run: async ({ client, worker }, share) => {
    const count = Math.ceil(LOW * Math.max(share, 0.3));
    await client.call('bulk', { count, atOnce: 4, isUrgent: false });
    await worker.call('work', { slots: SLOTS, handlerMs: HANDLER_MS });
    const sentAt: number[] = [];
    for (let n = 0; n < URGENT; n++) {
      await sleep(Math.max(EVERY_MS_MIN, EVERY_MS * share));
      const { endedAt } = await client.call('single', { count: 1, atOnce: 1, isUrgent: true });
      sentAt.push(endedAt);
    }
    await sleep(500);
    const starts = await worker.call('allStarts');
    const urgent = starts.filter(({ isUrgent }) => isUrgent);
    // An urgent task that never started was overtaken by every later start.
    const waits = sentAt.map((at, n) => (urgent.at(n)?.at ?? Number.POSITIVE_INFINITY) - at);
    const overtaking = sentAt.map((from, n) => {
      const to = from + waits[n];
      return starts.filter(({ isUrgent, at }) => !isUrgent && at > from && at < to).length;
    });
    const sorted = waits.map((ms) => Math.max(0, Math.min(ms, 60_000))).sort((a, b) => a - b);
    return {
      overtaking: overtaking.reduce((sum, each) => sum + each, 0) / URGENT,
      p50Ms: sorted[Math.floor((URGENT - 1) * 0.5)],
      p99Ms: sorted[Math.floor((URGENT - 1) * 0.99)],
    };
  },
};
