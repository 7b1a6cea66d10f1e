import type { TaskSpec } from '@sluice/core';
import { type Figure, type Row, secondsOf } from '../../row.ts';
import { CoreLoad } from '../core-load.ts';
import { submitTasksRequest } from '../requests.ts';

/** The default of `quotas.shapesMax`, and what a namespace could do without it. */
const SHAPES = [2000, 100_000];
const WORKERS = 100;
const SLOTS = 10;
const BATCH = 1000;

/** More than any worker of this row offers. */
const TOO_MUCH_MB = 1_000_000;

/**
 * Tasks that all have different needs. This is the highest matching cost that one namespace can
 * cause. Other namespaces wait for each turn.
 */
export const row: Row = {
  measure: async ({ share }) => {
    return SHAPES.flatMap((count) => {
      const shapes = Math.max(BATCH, count * share);
      return [...fitting(shapes), ...unfit(shapes)];
    });
  },
};

/** Every worker is full: each end makes room for one of the waiting tasks. */
function fitting(shapes: number): Figure[] {
  const load = loadWithWorkers();
  const held: [string, string][] = [];
  for (let sent = 0; sent < shapes + WORKERS * SLOTS; sent += BATCH) {
    submitShapes(load, sent, 0);
    held.push(...load.grantedPairs());
  }
  const ends = Math.min(1000, held.length);
  const seconds = secondsOf(() => {
    for (const [session, lease] of held.slice(0, ends)) load.complete(session, [lease]);
  });
  return [
    {
      what: `${shapes} shapes: an end and the next lease`,
      unit: 'µs',
      value: (seconds * 1e6) / ends,
    },
  ];
}

/** Every worker has room, but no waiting task fits, so each turn searches in vain. */
function unfit(shapes: number): Figure[] {
  const load = loadWithWorkers();
  let longest = 0;
  for (let sent = 0; sent < shapes; sent += BATCH) {
    longest = Math.max(
      longest,
      secondsOf(() => submitShapes(load, sent, TOO_MUCH_MB)),
    );
  }
  const attach = secondsOf(() => attachWorker(load, WORKERS));
  return [
    {
      what: `${shapes} shapes that fit nowhere: longest submit of 1,000`,
      unit: 'ms',
      value: longest * 1000,
    },
    {
      what: `${shapes} shapes that fit nowhere: a worker arrives`,
      unit: 'ms',
      value: attach * 1000,
    },
  ];
}

function loadWithWorkers(): CoreLoad {
  const load = new CoreLoad();
  for (let worker = 0; worker < WORKERS; worker++) attachWorker(load, worker);
  return load;
}

function attachWorker(load: CoreLoad, worker: number): void {
  load.attach(`s${worker}`, SLOTS, { capacity: { slots: SLOTS, cpu: 64, memoryMb: 500_000 } });
}

function submitShapes(load: CoreLoad, first: number, baseMb: number): void {
  const tasks = Array.from({ length: BATCH }, (_, place): TaskSpec => {
    return { type: 'bench', resources: { memoryMb: baseMb + first + place } };
  });
  load.submit(submitTasksRequest(tasks));
}
