import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fractionalOptimum, type Mix } from './fractional-optimum.ts';

/** Optima that can be computed by hand, and the values where prices are unique. */
const EXAMPLES: readonly (Mix & { title: string; tasks: number; values?: number[] })[] = [
  {
    // 10 / 4 and 5 / 4, where no scheduler could run more than 2 and 1.
    title: 'one kind: all that there is, by the average need, as pieces',
    offers: [[10], [5]],
    needs: [[4]],
    parts: [1],
    tasks: 3.75,
    values: [1],
  },
  {
    // 20 / (0.5 · 2 + 0.5 · 6); a task counts by what it needs, on average 1.
    title: 'one kind, two shapes: a task counts by what it needs',
    offers: [[20]],
    needs: [[2], [6]],
    parts: [0.5, 0.5],
    tasks: 5,
    values: [0.5, 1.5],
  },
  {
    // The second kind uses 8 · 1 of 100, so it costs nothing.
    title: 'two kinds of which one is plenty: only the scarce one counts',
    offers: [[16, 100]],
    needs: [
      [1, 2],
      [3, 0],
    ],
    parts: [0.5, 0.5],
    tasks: 8,
    values: [0.5, 1.5],
  },
  {
    // A pair needs 10 and 10. On separate workers they would leave most of both empty.
    title: 'two kinds: shapes that need different ones go together',
    offers: [
      [20, 20],
      [20, 20],
    ],
    needs: [
      [9, 1],
      [1, 9],
    ],
    parts: [0.5, 0.5],
    tasks: 8,
  },
  {
    // Each shape on the worker that has what it needs: 10 each. Split evenly everywhere: 4 in all.
    title: 'unlike workers: each shape runs where its kind is',
    offers: [
      [90, 10],
      [10, 90],
    ],
    needs: [
      [9, 1],
      [1, 9],
    ],
    parts: [0.5, 0.5],
    tasks: 20,
  },
];

describe.each(EXAMPLES)('$title', ({ tasks, values, ...mix }) => {
  test('as many tasks as worked out by hand, and worth as much each', () => {
    const optimum = fractionalOptimum(mix);

    expect(optimum.tasks).toBeCloseTo(tasks, 9);
    values?.forEach((value, shape) => {
      expect(optimum.values[shape]).toBeCloseTo(value, 9);
    });
  });
});

test('whatever whole tasks the workers run, they are worth no more than the optimum', () => {
  const amount = fc.integer({ min: 1, max: 20 });
  const kinds = fc.tuple(amount, amount, amount);
  const mixes = fc.record({
    offers: fc.array(kinds, { minLength: 1, maxLength: 4 }),
    needs: fc.array(kinds, { minLength: 1, maxLength: 4 }),
  });
  fc.assert(
    fc.property(mixes, fc.array(fc.nat(), { maxLength: 60 }), ({ offers, needs }, choices) => {
      const parts = needs.map(() => 1 / needs.length);
      const { tasks, values } = fractionalOptimum({ offers, needs, parts });
      const free = offers.map((offer) => [...offer]);
      let worth = 0;
      for (const choice of choices) {
        const shape = choice % needs.length;
        const room = free.find((each) => needs[shape].every((need, kind) => need <= each[kind]));
        if (room === undefined) continue;
        needs[shape].forEach((need, kind) => {
          room[kind] -= need;
        });
        worth += values[shape];
      }

      expect(worth).toBeLessThanOrEqual(tasks + 1e-6);
      expect(values.reduce((sum, value) => sum + value, 0) / needs.length).toBeCloseTo(1, 6);
    }),
    { numRuns: 200 },
  );
});
