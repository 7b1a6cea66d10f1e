import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

const OPTIONS = { baseMs: 100, maxMs: 1000 };

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

test('the span doubles with each failure up to its bound, and a reset begins anew', () => {
  const backoff = new Backoff({ random: () => 1 }, OPTIONS, 1);

  expect(delays(backoff, 6)).toEqual([100, 200, 400, 800, 1000, 1000]);
  backoff.reset();
  expect(delays(backoff, 2)).toEqual([100, 200]);
});

test('each address is tried once before the span grows', () => {
  const backoff = new Backoff({ random: () => 1 }, OPTIONS, 3);

  expect(delays(backoff, 7)).toEqual([100, 100, 100, 200, 200, 200, 400]);
});

test('jitter takes any part of the span, from nothing up', () => {
  const draws = [0, 0.25, 0.999];
  const backoff = new Backoff({ random: () => draws.shift() ?? 0 }, OPTIONS, 3);

  expect(delays(backoff, 3)).toEqual([0, 25, 99.9]);
});

test('what the server asked for comes before it', () => {
  const backoff = new Backoff({ random: () => 0.5 }, OPTIONS, 1);

  expect(backoff.next(3000)).toBe(3050);
});

test('thousands of failures are no more than the bound', () => {
  const backoff = new Backoff({ random: () => 1 }, OPTIONS, 1);

  expect(delays(backoff, 3000).at(-1)).toBe(1000);
});
