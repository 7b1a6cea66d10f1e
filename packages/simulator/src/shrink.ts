import { type Overrides, withOverrides } from './plan/overrides.ts';
import { drawPlan, type WorldPlan } from './plan/world-plan.ts';
import { type Mode, runSeed, type SeedFailure, type SeedOrder } from './run-seed.ts';

export interface ShrunkFailure {
  readonly overrides: Overrides;
  readonly plan: WorldPlan;
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
  { seed, mode, overrides: { runs, schedules } = {} }: SeedOrder,
  failure: SeedFailure,
): Promise<ShrunkFailure> {
  const shrinker = new Shrinker(seed, mode, failure);
  shrinker.keep({ ...(runs ? { runs } : {}), ...(schedules ? { schedules } : {}) });
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
  private readonly whole: WorldPlan;
  private overrides: Overrides;
  private failure: SeedFailure;
  private tries = 0;

  constructor(seed: number, mode: Mode, failure: SeedFailure) {
    this.seed = seed;
    this.mode = mode;
    this.failure = failure;
    this.whole = drawPlan(seed);
    this.overrides = { faults: this.whole.faults.map((_, place) => place) };
  }

  get result(): ShrunkFailure {
    const { failure, tries, overrides } = this;
    return { overrides, plan: withOverrides(this.whole, overrides), failure, tries };
  }

  /** The seed alone does not give the world runs or schedules. */
  keep(given: Pick<Overrides, 'runs' | 'schedules'>): void {
    this.overrides = { ...this.overrides, ...given };
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
