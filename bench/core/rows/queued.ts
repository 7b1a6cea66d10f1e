import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Figure, type Row, secondsOf } from '../../row.ts';
import { CoreLoad } from '../core-load.ts';
import { INPUT_BYTES, submitRequest } from '../requests.ts';

const BATCH = 1000;
const WARM_UP = 20 * BATCH;

/** Memory of a long queue, and the duration of commands on top of it. */
export const row: Row = {
  measure: async ({ share }) => {
    const tasks = 4_000_000 * share;
    const load = new CoreLoad();
    load.submitMany(WARM_UP, BATCH);
    const before = residentBytes();
    load.submitMany(tasks, BATCH);
    const each = (residentBytes() - before) / tasks;
    return [
      {
        what: `${tasks.toLocaleString('en')} queued: memory beside the payload`,
        unit: 'bytes/task',
        value: each - INPUT_BYTES,
        target: '≤ 250',
      },
      ...(await pauses(load, 200_000 * share)),
    ];
  },
};

/** Submits, leases and completes tasks on top of the queue, one command of each per turn. */
async function pauses(load: CoreLoad, tasks: number): Promise<Figure[]> {
  let collector = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collector = Math.max(collector, duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  load.attach('s', BATCH);
  let leases = load.granted();
  let turn = 0;
  for (let done = 0; done < tasks; done += BATCH) {
    const seconds = secondsOf(() => {
      load.submit(submitRequest(BATCH));
      load.complete('s', leases);
      leases = load.granted();
    });
    turn = Math.max(turn, seconds * 1000);
    await nextTurn();
  }
  observer.disconnect();
  const target = '≤ 50';
  return [
    { what: 'longest turn on top of it', unit: 'ms', value: turn, target },
    { what: 'longest pause of the collector', unit: 'ms', value: collector, target },
  ];
}

function residentBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}
