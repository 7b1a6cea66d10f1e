import type { Row } from '../../row.ts';
import { EngineLoad, fillLog } from '../engine-load.ts';

const TASKS = 1_000_000;

/** From opening the log to an engine that serves, without a snapshot. */
export const row: Row = {
  prepare: async ({ folder, share }) => {
    await fillLog(folder, TASKS * share);
  },
  measure: async ({ folder, share }) => {
    const startedAt = performance.now();
    const load = await EngineLoad.start(folder);
    const value = (performance.now() - startedAt) / 1000;
    await load.close();
    const what = `restart with ${(TASKS * share).toLocaleString('en')} tasks, log alone`;
    return [{ what, unit: 's', value, target: '≤ 2' }];
  },
};
