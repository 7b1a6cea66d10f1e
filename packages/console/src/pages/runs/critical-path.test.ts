import { expect, test } from 'vitest';
import type { Step } from '../../graph/step-marks.ts';
import { criticalPath } from './critical-path.ts';

function step(reference: string, from: number, to: number | null, type = 'SIMPLE'): Step {
  const time = (ms: number) => new Date(ms).toISOString();
  const endedAt = to === null ? null : time(to);
  return { reference, type, startedAt: time(from), endedAt } as Step;
}

test('it goes back through the steps that the next one waited for', () => {
  const steps = [
    step('probe', 0, 1000),
    step('fork', 1000, 1000, 'FORK_JOIN'),
    step('short', 1000, 2000),
    step('long', 1000, 5000),
    step('join', 5000, 5000, 'JOIN'),
    step('publish', 5010, 6000),
  ];

  expect([...criticalPath(steps, 9000)]).toEqual(['publish', 'long', 'probe']);
});

test('a step that runs is its end, and steps that have not begun are not on it', () => {
  const waiting = { reference: 'later', type: 'SIMPLE', startedAt: null, endedAt: null } as Step;

  expect([...criticalPath([step('a', 0, 500), step('b', 500, null), waiting], 9000)]).toEqual([
    'b',
    'a',
  ]);
  expect([...criticalPath([], 0)]).toEqual([]);
});
