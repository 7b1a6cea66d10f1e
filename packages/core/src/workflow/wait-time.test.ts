import { expect, test } from 'vitest';
import { waitUntil } from './wait-time.ts';

test.each([
  ['90s', 90_000],
  ['500ms', 500],
  ['1 hour 30 minutes', 5_400_000],
  ['1 days 2 hours 3 minutes 4 seconds', 93_784_000],
  ['2D', 172_800_000],
  ['0s', 0],
])('a duration of %s', (duration, ms) => {
  expect(waitUntil({ duration }, 1000)).toBe(1000 + ms);
});

test.each([
  ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20 10:00', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20 10:00 UTC', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20T10:00+02:00', '2026-11-20T08:00:00.000Z'],
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
])('until %s', (until, at) => {
  expect(waitUntil({ until }, 1000)).toBe(Date.parse(at));
});

test('without a time it waits for a call', () => {
  expect(waitUntil({}, 1000)).toBe(0);
  expect(waitUntil({ duration: null, until: null }, 1000)).toBe(0);
});

test.each([
  [{ duration: '' }],
  [{ duration: '5' }],
  [{ duration: 5 }],
  [{ duration: '3 minutes 1 hour' }],
  [{ duration: '1 fortnight' }],
  [{ duration: '999999999 days' }],
  [{ duration: '-1s' }],
  [{ until: 'tomorrow' }],
  [{ until: '2026-02-30' }],
  [{ until: '1969-01-01' }],
  [{ until: 1_800_000_000_000 }],
])('%j cannot be read', (input) => {
  expect(waitUntil(input, 1000)).toBeUndefined();
});
