import type { Placement } from '../task/shape.ts';
/** How ready tasks are assigned to workers with room (`matching/matching.ts`). */
export interface MatchingOptions {
  /**
   * `spread` rotates among workers and prefers one with much room left for the task. `pack` fills
   * one worker before it starts with another. Both combine tasks that need different resources.
   */
  readonly placement: Placement;
  /** A task that waited this long gets a reservation instead of being overtaken. */
  readonly reserveAfterMs: number;
  /**
   * Once a task has waited this long, its priority level is ignored in every `agedLeaseEvery`-th
   * lease.
   */
  readonly ageAfterMs: number;
  readonly agedLeaseEvery: number;
}

export const MATCHING_DEFAULTS: MatchingOptions = {
  placement: 'spread',
  reserveAfterMs: 10_000,
  ageAfterMs: 30_000,
  agedLeaseEvery: 8,
};
