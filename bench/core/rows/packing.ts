import {
  idleShare,
  packingShares,
} from '../../../packages/core/src/testing/packing/packing-shares.ts';
import type { Figure, Row } from '../../row.ts';

const MIXES = 120;
const LARGEST_NEED = 0.1;

/** Share of the fractional optimum that the workers run. The seeds make every run the same. */
export const row: Row = {
  measure: async ({ share }) => {
    const mixes = Math.max(2, Math.round(MIXES * share));
    return (['spread', 'pack'] as const).flatMap((placement) =>
      [1, 2, 3].flatMap((kinds) => sharesOf(mixes, kinds, placement)),
    );
  },
};

function sharesOf(mixes: number, kinds: number, placement: 'pack' | 'spread'): Figure[] {
  const bounds = { kinds, largestNeed: LARGEST_NEED };
  const all = Array.from({ length: mixes }, (_, place) =>
    packingShares(place + 1, bounds, { placement }),
  );
  const setting = `${placement}, ${kinds} scarce, ${mixes} mixes`;
  return [
    ...figures(
      `${setting}: first fill`,
      all.map(({ firstFill }) => firstFill),
    ),
    ...figures(
      `${setting}: steady`,
      all.map(({ steady }) => steady),
    ),
    {
      what: `${setting}: idle with work for 30 %`,
      unit: '% of workers',
      value: mean(all.map(({ seed }) => idleShare(seed, bounds, { placement, load: 0.3 }))) * 100,
    },
  ];
}

function figures(what: string, shares: readonly number[]): Figure[] {
  const unit = '% of optimum';
  return [
    { what: `${what}, mean`, unit, value: mean(shares) * 100 },
    { what: `${what}, worst`, unit, value: Math.min(...shares) * 100, target: '95' },
  ];
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}
