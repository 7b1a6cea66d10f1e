import type { Row } from '../../row.ts';
import { fillLog, foldLog, startFromSnapshot } from '../engine-load.ts';

const TASKS = 1_000_000;

/** From opening the snapshot to an engine that serves. The log has nothing after the snapshot. */
export const row: Row = {
  prepare: async ({ folder, share }) => {
    await foldLog(folder, await fillLog(folder, TASKS * share));
  },
  measure: async ({ folder, share }) => {
    const startedAt = performance.now();
    const load = await startFromSnapshot(folder);
    const value = (performance.now() - startedAt) / 1000;
    await load.close();
    const what = `restart with ${(TASKS * share).toLocaleString('en')} tasks, from a snapshot`;
    return [{ what, unit: 's', value, target: '≤ 2' }];
  },
};
