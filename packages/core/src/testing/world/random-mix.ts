import type { Mix } from '../packing/fractional-optimum.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface MixBounds {
  /** Number of scarce kinds on every worker, 1 to 3. */
  readonly kinds: number;
  /** The largest need of a task, as a share of the smallest worker. */
  readonly largestNeed: number;
}

const WORKERS_MAX = 30;
const SHAPES_MAX = 20;
const OFFER_MIN = 10_000;
/** Ratio of the largest offer of a kind to the smallest; kinds vary independently. */
const OFFER_SPREAD = 4;

/**
 * 2 to 30 workers, whose offers of a kind differ by up to a factor of four, and 2 to 20 shapes:
 * some need a bit of everything, some mostly one kind.
 */
export function randomMix(random: SeededRandom, { kinds, largestNeed }: MixBounds): Mix {
  const offers = listOf(random.between(2, WORKERS_MAX), () =>
    listOf(kinds, () => random.between(OFFER_MIN, OFFER_MIN * OFFER_SPREAD)),
  );
  const smallest = listOf(kinds, (kind) => Math.min(...offers.map((offer) => offer[kind])));
  const needs = listOf(random.between(2, SHAPES_MAX), () => {
    const isEven = random.next() < 0.5;
    const heavy = random.between(0, kinds - 1);
    return smallest.map((offered, kind) => {
      const [low, high] = isEven ? [0.05, 1] : kind === heavy ? [0.4, 1] : [0, 0.25];
      const share = low + random.next() * (high - low);
      return Math.max(1, Math.floor(offered * largestNeed * share));
    });
  });
  const weights = needs.map(() => 0.2 + random.next());
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return { offers, needs, parts: weights.map((weight) => weight / total) };
}

function listOf<T>(length: number, make: (place: number) => T): T[] {
  return Array.from({ length }, (_, place) => make(place));
}
