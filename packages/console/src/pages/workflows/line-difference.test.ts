import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDifference } from './line-difference.ts';

test('lines that stayed are the same, the others were removed or added', () => {
  const lines = lineDifference('a\nb\nc\nd', 'a\nc\nx\nd');

  expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'same a',
    'removed b',
    'same c',
    'added x',
    'same d',
  ]);
});

test('either text can be made from the difference', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (older, newer) => {
      const difference = lineDifference(older.join('\n'), newer.join('\n'));
      const without = (kind: string) =>
        difference.flatMap((line) => (line.kind === kind ? [] : [line.text])).join('\n');
      expect(without('added')).toBe(older.join('\n'));
      expect(without('removed')).toBe(newer.join('\n'));
    }),
  );
});
