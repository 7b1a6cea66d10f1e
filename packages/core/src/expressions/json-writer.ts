import type { JsonRange } from './json-bytes.ts';

/** A value that an expression or a template gives is larger than a payload may be. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
  readonly code: 'value_too_large' | 'bad_value';

  constructor(code: 'value_too_large' | 'bad_value', message: string) {
    super(message);
    this.code = code;
  }
}

/** Writes JSON. A value that is nested too deeply for that is a `ValueError`, not a crash. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ValueError('bad_value', 'a value is nested too deeply');
  }
}

/** Largest value that a template may give. */
export const VALUE_BYTES_MAX = 2 ** 18;

/** Largest list of branches. */
export const LIST_BYTES_MAX = 2 ** 22;

const INITIAL_BYTES = 4096;
/** A view of so few bytes takes longer than copying them one by one. */
const SHORT_BYTES = 32;
const ASCII_MAX = 0x7f;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Builds one JSON text in memory that is reused for the next one. */
export class JsonWriter {
  bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;
  private readonly bytesMax: number;

  constructor(bytesMax = VALUE_BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  clear(): void {
    this.length = 0;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  comma(): void {
    this.byte(COMMA);
  }

  copy(source: Uint8Array, start = 0, end = source.length): void {
    this.reserve(end - start);
    if (end - start <= SHORT_BYTES) {
      for (let at = start; at < end; at++) this.bytes[this.length++] = source[at];
      return;
    }
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** Writes a text of ASCII characters. False, and nothing is written, when it has others. */
  ascii(text: string): boolean {
    this.reserve(text.length);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > ASCII_MAX) return false;
      this.bytes[this.length + at] = code;
    }
    this.length += text.length;
    return true;
  }

  range({ bytes, start, end }: JsonRange): void {
    this.copy(bytes, start, end);
  }

  /** Copies text into a string that is open: quotes and backslashes get a backslash. */
  escaped(source: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const byte = source[at];
      if (byte === QUOTE || byte === BACKSLASH) this.byte(BACKSLASH);
      this.byte(byte);
    }
  }

  private reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.bytesMax) {
      throw new ValueError('value_too_large', `a value has more than ${this.bytesMax} bytes`);
    }
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(2 ** Math.ceil(Math.log2(needed)));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
