import type { Row } from '../row.ts';

/** Every row by its name, one file each. */
export const ROWS: Readonly<Record<string, () => Promise<{ readonly row: Row }>>> = {
  'core-cost': () => import('./rows/core-cost.ts'),
  matching: () => import('./rows/matching.ts'),
  shapes: () => import('./rows/shapes.ts'),
  packing: () => import('./rows/packing.ts'),
  'engine-batch': () => import('./rows/engine-batch.ts'),
  queued: () => import('./rows/queued.ts'),
  'restart-log': () => import('./rows/restart-log.ts'),
  'restart-snapshot': () => import('./rows/restart-snapshot.ts'),
  fold: () => import('./rows/fold.ts'),
  timers: () => import('./rows/timers.ts'),
};
