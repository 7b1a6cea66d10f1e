import { LATENCY_BOUNDS_MS } from '../metrics/histogram.ts';

/** Counts of one time interval. */
export interface StatsPoint {
  /** Start of the interval. */
  at: number;
  submitted: number;
  ended: number;
  /** How many of the ended tasks failed, timed out or expired. */
  failed: number;
  /** Maximum number of leased tasks over the samples. */
  running: number;
  /** Maximum number of queued tasks, by priority. */
  depth: number[];
  /** Times from submit to end, counted in the buckets of `LATENCY_BOUNDS_MS`. */
  latency: number[];
}

/** The newest intervals of one length. An interval without data takes no place. */
export class StatsRing {
  readonly stepMs: number;
  private readonly size: number;
  /** Oldest first. */
  private points: StatsPoint[];

  constructor(stepMs: number, size: number, points: readonly StatsPoint[] = []) {
    this.stepMs = stepMs;
    this.size = size;
    this.points = points.slice(-size);
  }

  add(point: StatsPoint): void {
    const at = point.at - (point.at % this.stepMs);
    const newest = this.points.at(-1);
    // Time never runs backwards. A late point still counts for the newest interval.
    if (newest !== undefined && newest.at >= at) return merge(newest, point);
    this.points.push({ ...point, at, depth: [...point.depth], latency: [...point.latency] });
    if (this.points.length > this.size) this.points.shift();
  }

  /** Points of the last `size` intervals, oldest first. */
  since(now: number): readonly StatsPoint[] {
    const first = now - this.size * this.stepMs;
    return this.points.filter(({ at }) => at > first);
  }

  toJSON(): readonly StatsPoint[] {
    return this.points;
  }
}

function merge(into: StatsPoint, point: StatsPoint): void {
  into.submitted += point.submitted;
  into.ended += point.ended;
  into.failed += point.failed;
  into.running = Math.max(into.running, point.running);
  into.depth = into.depth.map((depth, level) => Math.max(depth, point.depth[level]));
  into.latency = into.latency.map((count, bucket) => count + point.latency[bucket]);
}

/** The upper bound of the bucket that contains this quantile; null when nothing was counted. */
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  const bucket = counts.findIndex((count) => {
    seen += count;
    return seen >= total * share;
  });
  return LATENCY_BOUNDS_MS[Math.min(bucket, LATENCY_BOUNDS_MS.length - 1)];
}
