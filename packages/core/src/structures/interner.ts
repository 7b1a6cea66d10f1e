import { invariant } from '../base/invariant.ts';
import type { Archive } from './archive.ts';

/** Index of the empty text's value. */
const DEFAULT = 0;

/** Measured: the value, the table entries and the text itself (L9). */
const ENTRY_BYTES = 150;
const CHARACTER_BYTES = 4;

/** What a text costs that no other task shares. */
export function sharedBytes(text: string): number {
  return text === '' ? 0 : ENTRY_BYTES + CHARACTER_BYTES * text.length;
}

/**
 * Values that many tasks share, stored once and named by a small number. Tasks hold references; a
 * value is freed with its last reference.
 *
 * Entry 0 is the value of the empty text, the default. It is never freed, and its references are
 * not counted.
 */
export interface InternerReader<T> {
  readonly size: number;
  readonly bytes: number;
  at(index: number): T;
  textAt(index: number): string;
  /** Where a text is kept; undefined while nothing holds it. */
  placeOf(text: string): number | undefined;
}

export class Interner<T> implements InternerReader<T> {
  private readonly parse: (text: string) => T;
  private readonly byText = new Map<string, number>();
  private readonly texts: string[] = [];
  private readonly values: T[] = [];
  private readonly references: number[] = [];
  private readonly freed: number[] = [];
  /** Approximate size of all texts. */
  bytes = 0;

  constructor(parse: (text: string) => T) {
    this.parse = parse;
    this.texts.push('');
    this.values.push(parse(''));
    this.references.push(1);
    this.byText.set('', DEFAULT);
  }

  /** Number of stored values, including the default. */
  get size(): number {
    return this.byText.size;
  }

  hold(text: string): number {
    if (text === '') return DEFAULT;
    const known = this.byText.get(text);
    if (known !== undefined) {
      this.references[known] += 1;
      return known;
    }
    const index = this.freed.pop() ?? this.texts.length;
    this.texts[index] = text;
    this.values[index] = this.parse(text);
    this.references[index] = 1;
    this.byText.set(text, index);
    this.bytes += sharedBytes(text);
    return index;
  }

  placeOf(text: string): number | undefined {
    return this.byText.get(text);
  }

  release(index: number): void {
    if (index === DEFAULT) return;
    this.references[index] -= 1;
    invariant(this.references[index] >= 0, 'a shared value is released as often as it was held');
    if (this.references[index] > 0) return;
    this.byText.delete(this.texts[index]);
    this.bytes -= sharedBytes(this.texts[index]);
    // Cleared, because a text may be a secret, and large.
    this.texts[index] = '';
    this.values[index] = this.values[DEFAULT];
    this.freed.push(index);
  }

  at(index: number): T {
    return this.values[index];
  }

  textAt(index: number): string {
    return this.texts[index];
  }

  /**
   * Values keep their numbers, because tasks hold them. Freed numbers keep the order of their
   * reuse.
   */
  persist(archive: Archive): void {
    const texts = archive.texts('texts', this.texts);
    const references = archive.numbers('references', this.references);
    const freed = archive.numbers('freed', this.freed);
    if (!archive.isLoading) return;
    for (const index of freed) this.freed.push(index);
    texts.forEach((text, index) => {
      this.texts[index] = text;
      this.values[index] = this.parse(text);
      this.references[index] = references[index];
      if (references[index] === 0) return;
      this.byText.set(text, index);
      this.bytes += sharedBytes(text);
    });
  }
}
