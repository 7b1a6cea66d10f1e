/** Numbers from 0 to below 1 that depend only on the seed. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  readonly next = (): number => {
    // A multiplicative hash of a counter (mulberry32): small, and good enough to vary a test.
    this.state = (this.state + 0x6d2b79f5) | 0;
    let hash = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return ((hash ^ (hash >>> 14)) >>> 0) / 2 ** 32;
  };

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1));
  }
}
