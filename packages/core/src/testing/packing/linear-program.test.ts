import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LinearProgram, maximise, type Solution } from './linear-program.ts';

test('a program of two amounts that can be solved with a ruler', () => {
  // The limits meet at (2, 6): 3 · 2 + 5 · 6 = 36.
  const { gain, amounts, prices } = maximise({
    rows: [
      [1, 0],
      [0, 2],
      [3, 2],
    ],
    limits: [4, 12, 18],
    gains: [3, 5],
  });

  expect(gain).toBeCloseTo(36, 9);
  expect(amounts.map((amount) => Math.round(amount * 1e9) / 1e9)).toEqual([2, 6]);
  expect(prices.map((price) => Math.round(price * 1e9) / 1e9)).toEqual([0, 1.5, 1]);
});

test('what gains nothing is left out', () => {
  const { gain, amounts } = maximise({ rows: [[1, 1]], limits: [5], gains: [0, -1] });

  expect(gain).toBe(0);
  expect(amounts).toEqual([0, 0]);
});

test('a gain without a limit is an error', () => {
  expect(() => maximise({ rows: [[1, 0]], limits: [5], gains: [0, 1] })).toThrow('limited');
});

/** A cycle of six steps under the rule of the largest gain alone, known since 1955. */
test('steps that gain nothing come to an end', () => {
  const { gain } = maximise({
    rows: [
      [0.25, -60, -1 / 25, 9],
      [0.5, -90, -1 / 50, 3],
      [0, 0, 1, 0],
    ],
    limits: [0, 0, 1],
    gains: [0.75, -150, 0.02, -6],
  });

  expect(gain).toBeCloseTo(0.05, 9);
});

test('amounts and prices prove each other: no other amounts gain more', () => {
  const number = fc.integer({ min: 0, max: 20 });
  const programs = fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }))
    .chain(([height, width]) => {
      const row = fc.array(number, { minLength: width, maxLength: width });
      const rows = fc.array(row, { minLength: height, maxLength: height });
      const limits = fc.array(number, { minLength: height, maxLength: height });
      return fc.record({ rows, limits, gains: row });
    })
    // Every amount is limited by one row at least.
    .map(({ rows, limits, gains }) => ({
      rows: [...rows, gains.map(() => 1)],
      limits: [...limits, 20],
      gains,
    }));

  fc.assert(
    fc.property(programs, (program) => {
      expect(problems(program, maximise(program))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** Why a solution is wrong. */
function problems({ rows, limits, gains }: LinearProgram, solution: Solution): string[] {
  const { gain, amounts, prices } = solution;
  const tolerance = 1e-6;
  const found: string[] = [];
  if (Math.min(...amounts, ...prices) < -tolerance) found.push('a negative amount or price');
  rows.forEach((row, place) => {
    if (dot(row, amounts) > limits[place] + tolerance) found.push(`limit ${place} is exceeded`);
  });
  gains.forEach((each, column) => {
    const worth = dot(
      rows.map((row) => row[column]),
      prices,
    );
    if (each > worth + tolerance) found.push(`amount ${column} gains more than it is worth`);
  });
  if (Math.abs(dot(gains, amounts) - gain) > tolerance) found.push('the amounts do not gain that');
  if (Math.abs(dot(limits, prices) - gain) > tolerance) found.push('the limits are not worth that');
  return found;
}

function dot(some: readonly number[], others: readonly number[]): number {
  return some.reduce((sum, each, place) => sum + each * others[place], 0);
}
