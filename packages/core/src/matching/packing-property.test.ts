import { describe, expect, test } from 'vitest';
import { idleShare, type PackingShares, packingShares } from '../testing/packing/packing-shares.ts';
import type { MixBounds } from '../testing/world/random-mix.ts';

/**
 * Random mixes by seed: 2 to 30 workers, 2 to 20 shapes, and no task that needs more of a kind than
 * a tenth of the smallest worker. (Much larger tasks leave gaps on workers that no scheduler could
 * fill.) The optimum may split tasks and ignore their order. The partition may not, and follows its
 * rules: a higher level first, within a level the oldest that fits, and reservations for tasks that
 * waited long. docs/decisions/0009-placement.md says what that costs.
 *
 * No worker ever gets more than it offers: `BacklogRun` checks that independently.
 */
/** Some of them fall short when one of the placement rules is removed. */
const SEEDS = Array.from({ length: 12 }, (_, place) => place + 95);
const LARGEST_NEED = 0.1;

describe.each([1, 2, 3])('with more to do than can be done, and little of %i kinds', (kinds) => {
  test('spread runs at least 95 % of the fractional optimum, at once and from then on', () => {
    const mixes = sharesOf(kinds, 'spread');

    expect(mixes.filter(({ firstFill }) => firstFill < 0.95)).toEqual([]);
    expect(mixes.filter(({ steady }) => steady < 0.95)).toEqual([]);
  });

  test('with work for 30 % of it, spread leaves no worker idle, and pack half of them', () => {
    const [spread, pack] = (['spread', 'pack'] as const).map((placement) =>
      mean(SEEDS.map((seed) => idleShare(seed, boundsOf(kinds), { placement, load: 0.3 }))),
    );

    expect(spread).toBeLessThan(0.02);
    expect(pack).toBeGreaterThan(0.5);
  });

  /**
   * It fills one worker before it starts with another, and does not know which tasks will arrive.
   * Each task that ends gives it another choice.
   */
  test('pack runs at least 95 % of it on average at once, and of every mix from then on', () => {
    const mixes = sharesOf(kinds, 'pack');

    expect(mixes.filter(({ firstFill }) => firstFill < 0.85)).toEqual([]);
    expect(mean(mixes.map(({ firstFill }) => firstFill))).toBeGreaterThanOrEqual(0.95);
    expect(mixes.filter(({ steady }) => steady < 0.95)).toEqual([]);
  });
});

function sharesOf(kinds: number, placement: 'pack' | 'spread'): PackingShares[] {
  return SEEDS.map((seed) => packingShares(seed, boundsOf(kinds), { placement }));
}

function boundsOf(kinds: number): MixBounds {
  return { kinds, largestNeed: LARGEST_NEED };
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}
