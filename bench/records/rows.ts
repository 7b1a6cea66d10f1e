import type { Row } from '../row.ts';

/** Every row by its name, one file each. */
export const ROWS: Readonly<Record<string, () => Promise<{ readonly row: Row }>>> = {
  callbacks: () => import('./rows/callbacks.ts'),
  projector: () => import('./rows/projector.ts'),
  throughput: () => import('./rows/throughput.ts'),
  search: () => import('./rows/search.ts'),
  blobs: () => import('./rows/blobs.ts'),
};
