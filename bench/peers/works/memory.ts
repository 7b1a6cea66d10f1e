import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../usage.ts';
import type { Work } from './work.ts';

const TASKS = 100_000;
/** What a process takes once, with its first tasks, is not counted. */
const TASKS_BEFORE = 20_000;
const BULKS_AT_ONCE = 4;
/**
 * All answers have arrived. Connections stay open, and with them the memory that PostgreSQL mapped.
 */
const SETTLE_MS = 2000;

/** The memory of a waiting task. */
export const memory: Work = {
  what: `${TASKS} tasks wait; growth of the resident memory of the store for each, its payload of 200 bytes included`,
  isAboutSubmits: false,
  // Always the full number: beside fewer tasks, what a process has in reserve is all that counts.
  run: async ({ store, client }) => {
    await client.call('bulk', { count: TASKS_BEFORE, atOnce: BULKS_AT_ONCE });
    await sleep(SETTLE_MS);
    const before = await usageOf([store.pid]);
    await client.call('bulk', { count: TASKS, atOnce: BULKS_AT_ONCE });
    await sleep(SETTLE_MS);
    const after = await usageOf([store.pid]);
    return { bytesEach: (after.residentBytes - before.residentBytes) / TASKS };
  },
};
