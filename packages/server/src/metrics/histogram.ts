/** Milliseconds, from what a commit takes to what a person would call long. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000,
];

/** Counts by powers of four. */
export const SIZE_BOUNDS: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096, 16_384];

/**
 * Plain counts: an observation is a short loop and two additions, whoever reads them and whether
 * anybody does.
 */
export class Histogram {
  /** Upper ends, each within its bucket. */
  readonly bounds: readonly number[];
  /** One more than there are bounds: the last has no end. */
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
