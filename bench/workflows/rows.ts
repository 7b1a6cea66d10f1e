import type { Row } from '../row.ts';
import { fork, sequence } from './definitions.ts';
import { runsRow } from './rows/runs.ts';

/** Every row by its name. */
export const ROWS: Readonly<Record<string, () => Promise<{ readonly row: Row }>>> = {
  'runs-1': runs({ what: 'runs of 1 step', definition: sequence(1), tasks: 1, runs: 60_000 }),
  'runs-3': runs({
    what: 'runs of 3 steps',
    definition: sequence(3),
    tasks: 3,
    runs: 40_000,
    target: '≥ 5,000',
  }),
  'runs-10': runs({ what: 'runs of 10 steps', definition: sequence(10), tasks: 10, runs: 12_000 }),
  'fork-8': runs({ what: 'runs with a fork of 8', definition: fork(8), tasks: 8, runs: 15_000 }),
  'core-cost': () => import('./rows/core-cost.ts'),
  'cold-fork': cold('coldFork'),
  'cold-fork-tasks': cold('coldForkOfTasks'),
  'cold-chain': cold('coldChain'),
  'cold-cancel': cold('coldCancel'),
  'join-delay': () => import('./rows/join-delay.ts'),
  memory: () => import('./rows/memory.ts'),
  restart: () => import('./rows/restart.ts'),
  waits: () => import('./rows/waits.ts'),
  view: () => import('./rows/view.ts'),
};

type ColdRow = 'coldFork' | 'coldForkOfTasks' | 'coldChain' | 'coldCancel';

function cold(name: ColdRow): () => Promise<{ readonly row: Row }> {
  return async () => ({ row: (await import('./rows/cold.ts'))[name] });
}

function runs(row: Parameters<typeof runsRow>[0]): () => Promise<{ readonly row: Row }> {
  return async () => ({ row: runsRow(row) });
}
