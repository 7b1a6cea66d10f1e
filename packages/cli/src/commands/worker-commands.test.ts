import { expect, test } from 'vitest';
import type { Worker } from '../api/answers.ts';
import { workerList } from './worker-commands.ts';

const NOW = Date.parse('2026-11-18T10:00:10Z');

const WORKER: Worker = {
  id: 'w_1',
  name: 'mill',
  version: '1',
  types: [{ type: 'command', leased: 1 }],
  labels: { zone: 'a', host: 'mill' },
  capacity: { slots: 4 },
  used: { slots: 1 },
  leaseMs: 15_000,
  connected: true,
  draining: false,
  heardAt: '2026-11-18T10:00:00Z',
};

test('a list of workers shows their labels', () => {
  expect(workerList([WORKER], undefined, NOW).split('\n')).toEqual([
    'ID   NAME  VERSION  SLOTS  HEARD  STATE      TYPES    LABELS',
    'w_1  mill  1        1/4    10 s   connected  command  host=mill zone=a',
  ]);
});

test('below the list is what a worker does not take, and why', () => {
  const types = [{ type: 'container', leased: 0, unavailable: 'the engine does not answer' }];

  const text = workerList([{ ...WORKER, types }], 60, NOW);

  expect(text).toContain("\n\nw_1 takes no 'container' now: the engine does not answer");
});

test('a worker without control groups is named', () => {
  const text = workerList([{ ...WORKER, labels: { limits: 'rlimits' } }], undefined, NOW);

  expect(text).toContain('\nw_1 has no control groups: cpu and processes are not limited');
});
