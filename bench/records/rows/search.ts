import { join } from 'node:path';
import { DEFAULT_NAMESPACE } from '@sluice/core';
import { Projector } from '../../../packages/server/src/projection/projector.ts';
import type { RowQuery } from '../../../packages/server/src/projection/rows/row-query.ts';
import type { Figure, Row } from '../../row.ts';
import { madeRecords } from '../record-maker.ts';

const TASKS = 5_000_000;
const SEARCHES = 500;
const PAGE = 100;
const NO_RETENTION = { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

/** Searches among many finished tasks of one week. */
export const row: Row = {
  prepare: async ({ folder, share }) => {
    madeRecords(join(folder, 'days'), TASKS * share);
  },
  measure: async ({ folder, share }) => {
    const projector = Projector.open({ folder, retention: NO_RETENTION, notify: () => undefined });
    const tasks = TASKS * share;
    const figures = Object.entries(SEARCHES_BY_NAME).flatMap(([name, search]) => {
      return measured(projector, `${name} of ${tasks.toLocaleString('en')}`, (n) =>
        search(n, tasks),
      );
    });
    projector.close();
    return figures;
  },
};

/** The filters that have an index. Each search begins at another place. */
const SEARCHES_BY_NAME: Readonly<Record<string, (n: number, tasks: number) => Partial<RowQuery>>> =
  {
    newest: () => ({}),
    'a page in the middle': (n, tasks) => ({ before: placeOf(n, tasks) }),
    'by type': (n, tasks) => ({ queue: `type-${n % 50}`, before: placeOf(n, tasks) }),
    'by state failed': (n, tasks) => ({ state: 'failed', before: placeOf(n, tasks) }),
    'by type and state': (n) => ({ queue: `type-${n % 50}`, state: 'failed' }),
    'by tag': (n) => ({ tags: { customer: `c-${n}` } }),
    'by parent': (n) => ({ parent: `parent-${n}` }),
  };

function placeOf(n: number, tasks: number): number {
  return Math.max(1, Math.floor((tasks * (n + 1)) / SEARCHES));
}

function measured(
  projector: Projector,
  name: string,
  search: (n: number) => Partial<RowQuery>,
): Figure[] {
  const ms: number[] = [];
  for (let n = 0; n < SEARCHES; n++) {
    const query = { ...EVERYTHING, ...search(n) };
    const startedAt = performance.now();
    const times = { since: 0, until: Number.POSITIVE_INFINITY };
    let found = 0;
    for (const result of projector.find(query, times)) {
      if (!('passed' in result) && ++found === PAGE) break;
    }
    ms.push(performance.now() - startedAt);
  }
  ms.sort((a, b) => a - b);
  return [
    { what: `${name}: p50`, unit: 'ms', value: ms[Math.floor(SEARCHES / 2)] },
    { what: `${name}: p99`, unit: 'ms', value: ms[Math.floor(SEARCHES * 0.99)], target: '50' },
  ];
}

const EVERYTHING: RowQuery = {
  namespace: DEFAULT_NAMESPACE,
  before: Number.MAX_SAFE_INTEGER,
  from: 0,
  limit: PAGE,
};
