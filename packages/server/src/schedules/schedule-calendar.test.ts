import { expect, test } from 'vitest';
import { addRate } from './schedule-calendar.ts';

const STEP_MS = 900_000;

function counted(next: number, everyMs: number, end = 4 * STEP_MS): number[] {
  const counts = [0, 0, 0, 0];
  addRate({ counts, from: 0, stepMs: STEP_MS }, { next, everyMs, end });
  return counts;
}

test('a fixed rate is counted without asking for each time', () => {
  expect(counted(0, STEP_MS)).toEqual([1, 1, 1, 1]);
  expect(counted(60_000, 60_000)).toEqual([14, 15, 15, 15]);
  expect(counted(STEP_MS + 1, 2 * STEP_MS)).toEqual([0, 1, 0, 1]);
});

test('times after the end of the window do not count', () => {
  expect(counted(0, 300_000, STEP_MS + 1)).toEqual([3, 1, 0, 0]);
  expect(counted(5 * STEP_MS, STEP_MS)).toEqual([0, 0, 0, 0]);
});
