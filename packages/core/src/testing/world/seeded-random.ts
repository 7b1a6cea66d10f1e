/** A deterministic random generator: a hashed counter. The same seed gives the same numbers. */
export class SeededRandom {
  private count: number;

  constructor(seed: number) {
    this.count = Math.imul(seed, 0x9e3779b1);
  }

  /** From 0 to below 1. */
  next(): number {
    this.count = (this.count + 0x9e3779b9) | 0;
    let mixed = Math.imul(this.count ^ (this.count >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** A random index into a list of weights, whose sum is 1. */
  placeIn(weights: readonly number[]): number {
    let rest = this.next();
    const place = weights.findIndex((weight) => {
      rest -= weight;
      return rest < 0;
    });
    return place < 0 ? weights.length - 1 : place;
  }
}
