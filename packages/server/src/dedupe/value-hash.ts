/** Words of 32 bits in a hash. */
export const HASH_WORDS = 4;

/** Tags of the value kinds, so that values of different kinds have different hashes. */
const NULL = 1;
const TRUE = 2;
const FALSE = 3;
const NUMBER = 4;
const TEXT = 5;
const LIST = 6;
const FIELDS = 7;

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

/**
 * A 128-bit hash of a JSON value that does not depend on the order of fields.
 *
 * It detects that a caller sent a different value with the same key. It does not protect from
 * attackers: collisions can be made on purpose. It walks the value directly. Writing a text with
 * sorted fields first would cost about twice as much.
 *
 * Every step is reversible when its word is known, so no step loses earlier input. Fields are
 * hashed separately and added up, and addition has no order.
 */
export class ValueHash {
  private a = 0;
  private b = 0;
  private c = 0;
  private d = 0;

  /** Writes the hash of the value to `words` at `at`. */
  write(words: Uint32Array, at: number, value: unknown): void {
    this.restart();
    this.value(value);
    this.finish();
    words[at] = this.a;
    words[at + 1] = this.b;
    words[at + 2] = this.c;
    words[at + 3] = this.d;
  }

  private value(value: unknown): void {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value);
    if (typeof value === 'object' && value !== null) {
      return Array.isArray(value) ? this.list(value) : this.fields(value);
    }
    this.mix(value === null ? NULL : value === true ? TRUE : FALSE);
  }

  private text(text: string): void {
    const { length } = text;
    this.mix(TEXT);
    this.mix(length);
    // Like `mix`, but in registers: texts are most of what is hashed.
    let { a, b, c, d } = this;
    for (let i = 0; i < length; i += 2) {
      const high = i + 1 < length ? text.charCodeAt(i + 1) << 16 : 0;
      const word = text.charCodeAt(i) | high;
      const next = (turned(a ^ word, 15, 0xcc9e2d51) + b) | 0;
      b = (turned(b ^ word, 16, 0x1b873593) + c) | 0;
      c = (turned(c ^ word, 17, 0x85ebca6b) + d) | 0;
      d = (turned(d ^ word, 18, 0xc2b2ae35) + next) | 0;
      a = next;
    }
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }

  private number(value: number): void {
    // JSON has only one zero.
    double[0] = value === 0 ? 0 : value;
    this.mix(NUMBER);
    this.mix(halves[0]);
    this.mix(halves[1]);
  }

  private list(values: readonly unknown[]): void {
    this.mix(LIST);
    this.mix(values.length);
    for (const value of values) this.value(value);
  }

  private fields(object: object): void {
    const { a, b, c, d } = this;
    let sumA = 0;
    let sumB = 0;
    let sumC = 0;
    let sumD = 0;
    for (const name of Object.keys(object)) {
      this.restart();
      this.text(name);
      this.value((object as Record<string, unknown>)[name]);
      this.finish();
      sumA = (sumA + this.a) | 0;
      sumB = (sumB + this.b) | 0;
      sumC = (sumC + this.c) | 0;
      sumD = (sumD + this.d) | 0;
    }
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
    this.mix(FIELDS);
    this.mix(sumA);
    this.mix(sumB);
    this.mix(sumC);
    this.mix(sumD);
  }

  private restart(): void {
    this.a = 0x6a09e667;
    this.b = 0x3b67ae85;
    this.c = 0x3c6ef372;
    this.d = 0x254ff53a;
  }

  /** Mixes the last words as well as the first. */
  private finish(): void {
    for (let i = 0; i < HASH_WORDS; i++) this.mix(i);
  }

  private mix(word: number): void {
    const a = (turned(this.a ^ word, 15, 0xcc9e2d51) + this.b) | 0;
    this.b = (turned(this.b ^ word, 16, 0x1b873593) + this.c) | 0;
    this.c = (turned(this.c ^ word, 17, 0x85ebca6b) + this.d) | 0;
    this.d = (turned(this.d ^ word, 18, 0xc2b2ae35) + a) | 0;
    this.a = a;
  }
}

function turned(word: number, by: number, factor: number): number {
  return Math.imul((word << by) | (word >>> (32 - by)), factor);
}
