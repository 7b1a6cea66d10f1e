import type { MatchingOptions } from '../../decision/matching-options.ts';
import { BacklogRun } from '../world/backlog-run.ts';
import { type MixBounds, randomMix } from '../world/random-mix.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import { fractionalOptimum, type Mix, type Optimum } from './fractional-optimum.ts';

/** The share of the fractional optimum that the workers run. */
export interface PackingShares {
  readonly seed: number;
  /** After more tasks than fit were submitted to idle workers, before any task ended. */
  readonly firstFill: number;
  /** On average over time, while tasks end and others arrive. */
  readonly steady: number;
}

/** Number of waiting tasks beyond those that the workers could take. */
const BACKLOG = 300;

/** Turnovers of all running tasks before the measurement, and during it. */
const ROUNDS_BEFORE = 3;
const ROUNDS_COUNTED = 3;

/** The result of one random mix; everything about it is derived from the seed. */
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

/** The share of idle workers while there is work for the share `load` of the optimum. */
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
  // 0.1 s to 100 s: with the long ones, every waiting task has waited long.
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
