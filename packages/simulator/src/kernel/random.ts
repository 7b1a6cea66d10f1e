/**
 * A stream of random numbers that is the same for the same seed and name.
 *
 * Each component of a simulation has a separate stream. An extra draw in one component does not
 * change what the others draw. So without one fault, the rest of the story stays the same.
 */
export class RandomStream {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number, name: string) {
    const low = hashText(name, seed >>> 0);
    const high = hashText(name, Math.floor(seed / 2 ** 32) ^ 0x9e3779b9);
    this.a = low;
    this.b = high;
    this.c = low ^ high;
    // The first numbers still resemble the seed.
    for (let i = 0; i < 12; i++) this.next();
  }

  /** From 0 up to, but not including, 1. */
  readonly next = (): number => {
    // Small fast counter generator (sfc32): three words of state and a counter.
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** From `least` up to `most`. Every order of magnitude is equally likely. */
  logarithmic(least: number, most: number): number {
    return least * (most / least) ** this.next();
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)];
  }
}

/** FNV-1a over the UTF-16 units. */
function hashText(text: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) | 0;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash | 0;
}
