/** Of each name so many are remembered; whoever fails under ever new names has to use them up. */
const NAMES_MAX = 10_000;

interface Bucket {
  /** Failures that are still allowed. */
  left: number;
  at: number;
}

export interface FailureRate {
  /** So many at once. */
  readonly burst: number;
  /** And so many again per second. */
  readonly perSecond: number;
}

/** Bounds how often somebody may fail: by address, by key, or by whatever name. */
export class FailureLimit {
  private readonly rate: FailureRate;
  /** The one that failed longest ago comes first. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(rate: FailureRate) {
    this.rate = rate;
  }

  /** How long the name has to wait before it may try again; 0 for not at all. */
  waitMs(name: string, now: number): number {
    const bucket = this.buckets.get(name);
    if (bucket === undefined) return 0;
    const left = this.leftAt(bucket, now);
    return left >= 1 ? 0 : Math.ceil(((1 - left) * 1000) / this.rate.perSecond);
  }

  /** Answers whether this was the last failure that is allowed for now. */
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
