import type { MatchingOptions } from '../../decision/matching-options.ts';
import { BacklogRun } from '../world/backlog-run.ts';
import { type MixBounds, randomMix } from '../world/random-mix.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import { fractionalOptimum, type Mix, type Optimum } from './fractional-optimum.ts';

/** Of the fractional optimum, which share the workers run. */
export interface PackingShares {
  readonly seed: number;
  /** When more than they can take was submitted to idle workers, before any task ended. */
  readonly firstFill: number;
  /** On average over time, while tasks end and others come. */
  readonly steady: number;
}

/** Tasks that wait beside those that the workers could take: as many at the start, and then. */
const BACKLOG = 300;

/** How often the workers run as many tasks as they can, before it counts and while it does. */
const ROUNDS_BEFORE = 3;
const ROUNDS_COUNTED = 3;

/** What becomes of one random mix; everything about it follows from the seed. */
export function packingShares(
  seed: number,
  bounds: MixBounds,
  matching: Partial<MatchingOptions>,
): PackingShares {
  const { random, mix, optimum, run } = begin(seed, bounds, matching);
  const first = drawn(random, mix, Math.ceil(2 * optimum.tasks) + BACKLOG);
  run.submit(first);
  const firstFill = shareOf(run, fractionalOptimum({ ...mix, parts: partsOf(first, mix) }));

  const perRound = Math.ceil(optimum.tasks);
  for (let turn = 0; turn < ROUNDS_BEFORE * perRound; turn++) run.turn();
  let weighted = 0;
  let totalMs = 0;
  for (let turn = 0; turn < ROUNDS_COUNTED * perRound; turn++) {
    const share = shareOf(run, optimum);
    const passedMs = run.turn();
    weighted += share * passedMs;
    totalMs += passedMs;
  }
  return { seed, firstFill, steady: weighted / totalMs };
}

/** Which share of the workers is idle while there is work for a share of the optimum, `load`. */
export function idleShare(
  seed: number,
  bounds: MixBounds,
  { load, ...matching }: Partial<MatchingOptions> & { readonly load: number },
): number {
  const { random, mix, optimum, run } = begin(seed, bounds, matching);
  for (const shape of drawn(random, mix, Math.floor(load * optimum.tasks))) run.submit([shape]);
  return run.idleWorkers / mix.offers.length;
}

function begin(seed: number, bounds: MixBounds, matching: Partial<MatchingOptions>) {
  const random = new SeededRandom(seed);
  const mix = randomMix(random, bounds);
  // A tenth of a second to a hundred seconds: with the long ones, whoever waits has waited long.
  const meanMs = 10 ** (2 + 3 * random.next());
  const run = new BacklogRun(mix, random, { matching, meanMs });
  return { random, mix, optimum: fractionalOptimum(mix), run };
}

/** The shapes of the next tasks of a mix. */
function drawn(random: SeededRandom, { parts }: Mix, length: number): number[] {
  return Array.from({ length }, () => random.placeIn(parts));
}

function partsOf(shapes: readonly number[], { needs }: Mix): number[] {
  return needs.map((_, shape) => shapes.filter((each) => each === shape).length / shapes.length);
}

function shareOf({ runningOf }: BacklogRun, { tasks, values }: Optimum): number {
  return runningOf.reduce((sum, running, shape) => sum + running * values[shape], 0) / tasks;
}
