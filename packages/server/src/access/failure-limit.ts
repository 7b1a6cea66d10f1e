/**
 * Maximum number of names remembered. A client evicts older names only by failing under that many
 * new ones.
 */
const NAMES_MAX = 10_000;

interface Bucket {
  /** Failures that are still allowed. */
  left: number;
  at: number;
}

export interface FailureRate {
  /** Failures allowed at once. */
  readonly burst: number;
  /** Failures allowed again per second. */
  readonly perSecond: number;
}

/** Limits how often a name may fail. A name is an address or a key. */
export class FailureLimit {
  private readonly rate: FailureRate;
  /** The name that failed longest ago comes first. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(rate: FailureRate) {
    this.rate = rate;
  }

  /** How long the name must wait before it may try again; 0 when it need not wait. */
  waitMs(name: string, now: number): number {
    const bucket = this.buckets.get(name);
    if (bucket === undefined) return 0;
    const left = this.leftAt(bucket, now);
    return left >= 1 ? 0 : Math.ceil(((1 - left) * 1000) / this.rate.perSecond);
  }

  /** Returns whether the name is blocked for now by this failure. */
  failed(name: string, now: number): boolean {
    const bucket = this.buckets.get(name) ?? { left: this.rate.burst, at: now };
    const left = Math.max(0, this.leftAt(bucket, now) - 1);
    this.buckets.delete(name);
    this.buckets.set(name, { left, at: now });
    if (this.buckets.size > NAMES_MAX) this.forgetOldest();
    return left < 1;
  }

  private leftAt({ left, at }: Bucket, now: number): number {
    const { burst, perSecond } = this.rate;
    return Math.min(burst, left + (Math.max(0, now - at) * perSecond) / 1000);
  }

  private forgetOldest(): void {
    const [oldest] = this.buckets.keys();
    this.buckets.delete(oldest);
  }
}
