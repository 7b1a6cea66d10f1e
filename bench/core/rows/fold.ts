import type { Row } from '../../row.ts';
import { fillLog, foldLog } from '../engine-load.ts';

const TASKS = 1_000_000;
/** Number of tasks that `fillLog` puts into a record. */
const TASKS_PER_RECORD = 1000;

/**
 * What folding a log into a first snapshot costs the machine, without the live partition. The
 * process of a row is as fresh as the one that a server starts for a fold.
 */
export const row: Row = {
  prepare: async ({ folder, share }) => {
    await fillLog(folder, TASKS * share);
  },
  measure: async ({ folder, share }) => {
    const tasks = TASKS * share;
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const residentBefore = process.memoryUsage.rss();
    await foldLog(folder, Math.ceil(tasks / TASKS_PER_RECORD));
    const cpu = process.cpuUsage(cpuBefore);
    const grownBytes = process.resourceUsage().maxRSS * 1024 - residentBefore;
    const name = `fold of ${tasks.toLocaleString('en')} tasks`;
    return [
      { what: name, unit: 's', value: (performance.now() - startedAt) / 1000 },
      { what: `${name}: CPU`, unit: 's', value: (cpu.user + cpu.system) / 1e6 },
      { what: `${name}: memory at its peak`, unit: 'MiB', value: grownBytes / 2 ** 20 },
    ];
  },
};
