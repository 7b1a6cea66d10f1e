import { setTimeout as sleep } from 'node:timers/promises';
import type { Work } from './work.ts';

const WORKERS = 200;
const FOR_MS = 5000;
const FOR_MS_MIN = 3000;
/** Startup costs are over by then. */
const SETTLE_MS = 1500;

/** The cost of waiting. */
export const idle: Work = {
  what: `${WORKERS} workers and nothing to do for ${FOR_MS / 1000} s; CPU of the store and of the workers' process`,
  isAboutSubmits: false,
  run: async (stage, share) => {
    await stage.worker.call('work', { slots: 10, workers: WORKERS });
    await sleep(SETTLE_MS);
    const forMs = Math.max(FOR_MS_MIN, FOR_MS * share);
    const before = await stage.usage();
    const startedAt = performance.now();
    await sleep(forMs);
    const usedMs = (await stage.usage()).cpuMs - before.cpuMs;
    return { cpuPercent: (usedMs * 100) / (performance.now() - startedAt) };
  },
};
