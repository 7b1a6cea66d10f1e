import type { Archive } from '../structures/archive.ts';
import type { Column } from '../structures/columns.ts';
import { SNAPSHOT_SCHEMA } from './snapshot-archive.ts';

/**
 * Odd factors with well-spread bits: multiplication by them is a bijection of 32-bit words that
 * mixes their bits.
 */
const FIRST_FACTOR = 0x9e3779b1;
const SECOND_FACTOR = 0x85ebca6b;
const SECOND_BITS = 21;

/** Scratch memory; holds nothing between two calls. */
const SCRATCH = new Float64Array(1);
const SCRATCH_WORDS = new Uint32Array(SCRATCH.buffer);

/**
 * A hash of everything that it is given, as a number below 2^53.
 *
 * It has two lanes of 32 bits. A step is a bijection of the first lane, so two sequences that
 * differ in one word always have different hashes: a single flipped bit is always found. The step
 * is inlined in each loop, because a call per word takes three times as long.
 */
export class StateHasher implements Archive {
  readonly isLoading = false;
  readonly schema: number;
  private first = 1;
  private second = 2;

  constructor(schema = SNAPSHOT_SCHEMA) {
    this.schema = schema;
  }

  get value(): number {
    return (this.first >>> 0) * 2 ** SECOND_BITS + (this.second >>> (32 - SECOND_BITS));
  }

  section(name: string): void {
    this.text(name);
  }

  number(name: string, value: number): number {
    this.text(name);
    this.double(value);
    return value;
  }

  numbers(name: string, values: readonly number[]): readonly number[] {
    this.text(name);
    this.double(values.length);
    for (const value of values) this.double(value);
    return values;
  }

  texts(name: string, values: readonly string[]): readonly string[] {
    this.text(name);
    this.double(values.length);
    for (const value of values) this.text(value);
    return values;
  }

  column(name: string, column: Column, length: number): void {
    this.text(name);
    this.double(length);
    const { buffer, byteOffset, BYTES_PER_ELEMENT } = column;
    if (BYTES_PER_ELEMENT < 4) {
      for (let i = 0; i < length; i++) this.word(column[i]);
      return;
    }
    this.words(new Uint32Array(buffer, byteOffset, (length * BYTES_PER_ELEMENT) / 4));
  }

  bytes(name: string, length: number): void {
    this.text(name);
    this.double(length);
  }

  run(bytes: Uint8Array, start: number, end: number): void {
    const wordsEnd = end - ((end - start) & 3);
    let { first, second } = this;
    for (let at = start; at < wordsEnd; at += 4) {
      const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
      const mixed = Math.imul(first ^ word, FIRST_FACTOR);
      first = (mixed << 13) | (mixed >>> 19);
      second = Math.imul(second ^ word, SECOND_FACTOR);
      second = (second << 17) ^ (second >>> 15) ^ mixed;
    }
    this.first = first;
    this.second = second;
    for (let at = wordsEnd; at < end; at++) this.word(bytes[at]);
  }

  double(value: number): void {
    SCRATCH[0] = value;
    this.word(SCRATCH_WORDS[0]);
    this.word(SCRATCH_WORDS[1]);
  }

  word(word: number): void {
    const first = Math.imul(this.first ^ word, FIRST_FACTOR);
    this.first = (first << 13) | (first >>> 19);
    const second = Math.imul(this.second ^ word, SECOND_FACTOR);
    this.second = (second << 17) ^ (second >>> 15) ^ first;
  }

  /** Hashes the memory of a column for some slots. */
  entries(memory: Uint32Array | Uint8Array, perSlot: number, slots: Int32Array): void {
    if (memory instanceof Uint8Array) this.entriesOfBytes(memory, perSlot, slots);
    else this.entriesOfWords(memory, perSlot, slots);
  }

  /** Apart from words: a loop over both is compiled again and again while the code is cold. */
  private entriesOfBytes(memory: Uint8Array, perSlot: number, slots: Int32Array): void {
    let { first, second } = this;
    for (let i = 0; i < slots.length; i++) {
      const end = (slots[i] + 1) * perSlot;
      for (let at = end - perSlot; at < end; at++) {
        const word = memory[at];
        const mixed = Math.imul(first ^ word, FIRST_FACTOR);
        first = (mixed << 13) | (mixed >>> 19);
        second = Math.imul(second ^ word, SECOND_FACTOR);
        second = (second << 17) ^ (second >>> 15) ^ mixed;
      }
    }
    this.first = first;
    this.second = second;
  }

  private entriesOfWords(memory: Uint32Array, perSlot: number, slots: Int32Array): void {
    let { first, second } = this;
    for (let i = 0; i < slots.length; i++) {
      const end = (slots[i] + 1) * perSlot;
      for (let at = end - perSlot; at < end; at++) {
        const word = memory[at];
        const mixed = Math.imul(first ^ word, FIRST_FACTOR);
        first = (mixed << 13) | (mixed >>> 19);
        second = Math.imul(second ^ word, SECOND_FACTOR);
        second = (second << 17) ^ (second >>> 15) ^ mixed;
      }
    }
    this.first = first;
    this.second = second;
  }

  private words(words: Uint32Array): void {
    let { first, second } = this;
    for (let i = 0; i < words.length; i++) {
      const word = words[i];
      const mixed = Math.imul(first ^ word, FIRST_FACTOR);
      first = (mixed << 13) | (mixed >>> 19);
      second = Math.imul(second ^ word, SECOND_FACTOR);
      second = (second << 17) ^ (second >>> 15) ^ mixed;
    }
    this.first = first;
    this.second = second;
  }

  private text(text: string): void {
    this.word(text.length);
    for (let i = 0; i < text.length; i++) this.word(text.charCodeAt(i));
  }
}

interface HashMismatch {
  readonly expected: number;
  readonly found: number;
  /** The log record that contains the expected hash; absent for a snapshot. */
  readonly record?: number;
}

/** The state differs from the recorded one: the partition must stop (L3). */
export class StateHashError extends Error {
  override readonly name = 'StateHashError';
  readonly record: number | undefined;

  constructor({ expected, found, record }: HashMismatch) {
    const where = record === undefined ? 'the snapshot' : `record ${record} of the log`;
    super(
      `the state has hash ${found}, and ${where} says ${expected}; ` +
        'keep the data folder as it is and report this',
    );
    this.record = record;
  }
}
