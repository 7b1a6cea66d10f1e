import { expect, test } from 'vitest';
import { LATENCY_BOUNDS_MS } from '../metrics/histogram.ts';
import { quantile, type StatsPoint, StatsRing } from './stats-ring.ts';

const NOW = 1_900_000_000_000;

function point(at: number, given: Partial<StatsPoint> = {}): StatsPoint {
  const counts = { submitted: 1, ended: 1, failed: 0, running: 0 };
  return { at, ...counts, depth: [0, 0], latency: [1, 0], ...given };
}

test('points of one interval are added up, and of what stands the most is shown', () => {
  const ring = new StatsRing(60_000, 10);
  ring.add(point(NOW, { running: 2, depth: [5, 1], latency: [1, 2] }));
  ring.add(point(NOW + 1000, { failed: 1, running: 7, depth: [3, 4], latency: [10, 20] }));

  expect(ring.since(NOW)).toEqual([
    {
      at: NOW - (NOW % 60_000),
      submitted: 2,
      ended: 2,
      failed: 1,
      running: 7,
      depth: [5, 4],
      latency: [11, 22],
    },
  ]);
});

test('it has the newest intervals and no more, with or without gaps', () => {
  const ring = new StatsRing(1000, 3);
  for (const second of [0, 1, 2, 3]) ring.add(point(NOW + second * 1000));

  expect(ring.since(NOW + 3000).map(({ at }) => at - NOW)).toEqual([1000, 2000, 3000]);
  ring.add(point(NOW + 9000));
  expect(ring.since(NOW + 9000).map(({ at }) => at - NOW)).toEqual([9000]);
});

test('what comes late counts for the newest interval', () => {
  const ring = new StatsRing(1000, 3);
  ring.add(point(NOW));
  ring.add(point(NOW - 5000));

  expect(ring.since(NOW)).toMatchObject([{ at: NOW, submitted: 2 }]);
});

test('it goes on with what was stored', () => {
  const ring = new StatsRing(1000, 3);
  ring.add(point(NOW));
  const stored = JSON.parse(JSON.stringify(ring)) as StatsPoint[];

  const later = new StatsRing(1000, 3, stored);
  later.add(point(NOW + 500));
  expect(later.since(NOW)).toMatchObject([{ submitted: 2 }]);
});

test('a quantile is the bound of its bucket', () => {
  const counts = LATENCY_BOUNDS_MS.map(() => 0).concat(0);
  expect(quantile(counts, 0.5)).toBeNull();
  counts[2] = 98;
  counts[5] = 2;
  expect([0.5, 0.98, 0.99].map((share) => quantile(counts, share))).toEqual([2, 2, 25]);
  counts[LATENCY_BOUNDS_MS.length] = 1000;
  expect(quantile(counts, 0.99)).toBe(300_000);
});
