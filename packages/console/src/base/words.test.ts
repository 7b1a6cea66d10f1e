import { expect, test } from 'vitest';
import { bytes, duration, plural, relative, shortCount } from './words.ts';

test.each([
  [0, '0 ms'],
  [950, '950 ms'],
  [1400, '1.4 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [7_500_000, '2 h 5 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('times are relative to now, in both directions', () => {
  expect(relative(1000, 2000)).toBe('now');
  expect(relative(0, 90_000)).toBe('1 min 30 s ago');
  expect(relative(5000, 0)).toBe('in 5 s');
});

test('counts and sizes are short', () => {
  expect(plural(1, 'task')).toBe('1 task');
  expect(plural(2000, 'entry', 'entries')).toBe('2,000 entries');
  expect(shortCount(1_250_000)).toBe('1.3M');
  expect(bytes(1536)).toBe('1.5 KiB');
  expect(bytes(5 * 1024 ** 3)).toBe('5.0 GiB');
});
