import { clusterPlanOf } from '../cluster/plan/cluster-plan.ts';
import type { Mode } from '../plan/mode.ts';
import { type Overrides, withOverrides } from '../plan/overrides.ts';
import { drawPlan, type WorldPlan } from '../plan/world-plan.ts';
import { runSeed, type SeedFailure, type SeedOrder } from './run-seed.ts';

/** The part of a plan that may get smaller. */
type Shrinkable = Pick<WorldPlan, 'workers' | 'clients'> & { readonly faults: readonly object[] };

export interface ShrunkFailure {
  readonly overrides: Overrides;
  readonly plan: Shrinkable;
  readonly failure: SeedFailure;
  /** How many smaller worlds were tried. */
  readonly tries: number;
}

/** Maximum number of smaller worlds that are tried. */
const TRIES_MAX = 60;

/**
 * Removes as much as possible from a failing world while the same rule still fails. It first
 * removes what comes after the failure, then faults, workers and clients, and the faults of the
 * network.
 */
export async function shrink(
  { seed, mode, overrides: { runs, schedules, cluster } = {} }: SeedOrder,
  failure: SeedFailure,
): Promise<ShrunkFailure> {
  const kept = {
    ...(runs ? { runs } : {}),
    ...(schedules ? { schedules } : {}),
    ...(cluster ? { cluster } : {}),
  };
  const shrinker = new Shrinker({ seed, mode, overrides: kept }, failure);
  if (mode === 'safety') await shrinker.attempt({ until: Math.ceil(failure.at) + 1 });
  await shrinker.withoutFaults();
  await shrinker.fewer('clients');
  await shrinker.fewer('workers');
  await shrinker.attempt({ calm: true });
  await shrinker.withoutFaults();
  return shrinker.result;
}

class Shrinker {
  private readonly seed: number;
  private readonly mode: Mode;
  private readonly whole: Shrinkable;
  private overrides: Overrides;
  private failure: SeedFailure;
  private tries = 0;

  /** The seed alone does not give the world what `overrides` has. */
  constructor({ seed, mode, overrides }: Required<Kept>, failure: SeedFailure) {
    this.seed = seed;
    this.mode = mode;
    this.failure = failure;
    this.whole = planOf(seed, overrides);
    this.overrides = { ...overrides, faults: this.whole.faults.map((_, place) => place) };
  }

  get result(): ShrunkFailure {
    const { failure, tries, overrides } = this;
    return { overrides, plan: planOf(this.seed, overrides), failure, tries };
  }

  /** Keeps the change if the same rule fails with it. */
  async attempt(change: Overrides): Promise<boolean> {
    if (this.tries >= TRIES_MAX) return false;
    this.tries += 1;
    const overrides = { ...this.overrides, ...change };
    const { failure } = await runSeed({ seed: this.seed, mode: this.mode, overrides });
    if (failure?.rule !== this.failure.rule) return false;
    this.overrides = overrides;
    this.failure = failure;
    return true;
  }

  /** Tries to remove halves, then quarters, and so on down to single faults. */
  async withoutFaults(): Promise<void> {
    for (let size = this.faults.length; size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < this.faults.length; ) {
        const faults = this.faults.toSpliced(from, size);
        if (!(await this.attempt({ faults }))) from += size;
      }
    }
  }

  async fewer(what: 'workers' | 'clients'): Promise<void> {
    for (;;) {
      const count = this.overrides[what] ?? this.whole[what];
      if (count <= 1 || !(await this.attempt({ [what]: Math.floor(count / 2) }))) return;
    }
  }

  private get faults(): readonly number[] {
    return this.overrides.faults ?? [];
  }
}

type Kept = Pick<SeedOrder, 'seed' | 'mode' | 'overrides'>;

function planOf(seed: number, overrides: Overrides): Shrinkable {
  if (overrides.cluster === true) return clusterPlanOf(seed, overrides);
  return withOverrides(drawPlan(seed), overrides);
}
