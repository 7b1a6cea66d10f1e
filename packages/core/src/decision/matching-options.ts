/** How ready tasks and workers with room are brought together (`matching/matching.ts`). */
export interface MatchingOptions {
  /**
   * `spread` goes round and gives a task to a worker that it burdens little, for its size; `pack`
   * fills one worker before it begins another. Both bring together what needs different kinds.
   */
  readonly placement: 'pack' | 'spread';
  /** A task that waited this long has room kept for it rather than being overtaken. */
  readonly reserveAfterMs: number;
  /** The level of a task that waited this long does not count in every so many leases. */
  readonly ageAfterMs: number;
  readonly agedLeaseEvery: number;
}

export const MATCHING_DEFAULTS: MatchingOptions = {
  placement: 'spread',
  reserveAfterMs: 10_000,
  ageAfterMs: 30_000,
  agedLeaseEvery: 8,
};
