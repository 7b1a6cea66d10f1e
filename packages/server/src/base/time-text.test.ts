import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeText } from './time-text.ts';

test('any time is written as `toISOString` writes it', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 8.64e15, noNaN: true }), (ms) => {
      expect(timeText(ms)).toBe(new Date(ms).toISOString());
      expect(timeText(Math.floor(ms))).toBe(new Date(ms).toISOString());
    }),
    { numRuns: 2000 },
  );
});
