import { setTimeout as sleep } from 'node:timers/promises';
import type { Work } from './work.ts';

const RATE = 500;
const FOR_MS = 6000;
const FOR_MS_MIN = 3000;
const SLOTS = 20;
const HANDLER_MS = 5;
/** Time after the last submit for the acknowledged tasks to run. */
const SETTLE_MS = 30_000;
const SETTLE_MS_QUICK = 10_000;

/** The process that keeps the tasks dies during submits and handlers, and is restarted. */
export const recovery: Work = {
  what: `${RATE} submits a second for ${FOR_MS / 1000} s and a worker with ${SLOTS} slots; the store, or the server, is killed (-9) in the middle and started again; tasks that were promised and did not run within ${SETTLE_MS / 1000} s (lost), and that ran more than once (doubled)`,
  isAboutSubmits: false,
  run: async ({ store, client, worker }, share) => {
    await worker.call('work', { slots: SLOTS, handlerMs: HANDLER_MS });
    const forMs = Math.max(FOR_MS_MIN, FOR_MS * share);
    const submitting = client.call('atRate', { rate: RATE, forMs });
    submitting.catch(() => undefined);
    await sleep(forMs / 2);
    await store.killAndStart();
    const promised = await submitting;
    const withinMs = share < 1 ? SETTLE_MS_QUICK : SETTLE_MS;
    await worker.call('until', { count: promised.length, withinMs });
    // A second run of a task comes later than the first.
    await sleep(1000);
    const runs = new Map<number, number>();
    for (const { n } of await worker.call('allStarts')) runs.set(n, (runs.get(n) ?? 0) + 1);
    return {
      lost: promised.filter((n) => !runs.has(n)).length,
      doubled: [...runs.values()].filter((times) => times > 1).length,
    };
  },
};
