/** In milliseconds, from the time of a commit to a long wait. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000,
];

/** Powers of four. */
export const SIZE_BOUNDS: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096, 16_384];

/** A histogram with plain counts: an observation costs a short loop and two additions. */
export class Histogram {
  /** Inclusive upper bounds of the buckets. */
  readonly bounds: readonly number[];
  /** One more than there are bounds: the last bucket has no upper bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket += 1;
    this.counts[bucket] += 1;
    this.sum += value;
  }
}
