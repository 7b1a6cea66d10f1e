import { invariant } from '../base/invariant.ts';
import type { Utf8 } from '../base/utf8.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { CLAIM_WORDS, type DedupeClaim } from '../task/dedupe-claim.ts';

const NO_TEXTS: readonly string[] = [];

/** Reads what `RecordWriter` wrote: one batch from its first byte to its last. */
export class RecordReader {
  private readonly bytes: Uint8Array;
  private readonly utf8: Utf8;
  private readonly names: string[] = [];
  private readonly words = new Uint32Array(CLAIM_WORDS);
  private at = 0;
  private recordEnd = 0;

  constructor(bytes: Uint8Array, utf8: Utf8) {
    this.bytes = bytes;
    this.utf8 = utf8;
  }

  hasRecord(): boolean {
    return this.at < this.bytes.length;
  }

  /** Opens the next record and returns its time. */
  beginRecord(): number {
    const { bytes } = this;
    invariant(this.at + 4 <= bytes.length, 'a record has a length');
    const size = this.word();
    this.recordEnd = this.at + size;
    invariant(this.recordEnd <= bytes.length, 'a record ends inside its batch');
    return this.varint();
  }

  hasEvent(): boolean {
    invariant(this.at <= this.recordEnd, 'an event ends inside its record');
    return this.at < this.recordEnd;
  }

  byte(): number {
    return this.bytes[this.at++];
  }

  varint(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
      invariant(factor < 2 ** 56, 'a number in the log is below 2^53');
    }
  }

  name(): string {
    const place = this.varint();
    if (place > 0) {
      invariant(place <= this.names.length, 'a name is spelled out before it is referred to');
      return this.names[place - 1];
    }
    const length = this.varint();
    const text = this.utf8.decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    this.names.push(text);
    return text;
  }

  /** The texts up to the last one that is not empty. */
  sparse(): readonly string[] {
    const stated = this.byte();
    if (stated === 0) return NO_TEXTS;
    const texts: string[] = [];
    for (let i = 0; stated >>> i !== 0; i++) {
      texts.push(((stated >>> i) & 1) === 1 ? this.name() : '');
    }
    return texts;
  }

  claim(into: DedupeClaim): void {
    into.windowMs = this.varint();
    into.words = this.words;
    into.start = 0;
    if (into.windowMs === 0) return;
    for (let i = 0; i < CLAIM_WORDS; i++) this.words[i] = this.word();
  }

  payload(into: PayloadRange): void {
    const length = this.varint();
    into.bytes = this.bytes;
    into.start = this.at;
    this.at += length;
    into.end = this.at;
  }

  pieces(into: PayloadRange): void {
    invariant(this.byte() === 0, 'a payload in pieces is spelled out');
    this.payload(into);
  }

  numbers(): number[] {
    const length = this.varint();
    const values: number[] = [];
    for (let i = 0; i < length; i++) values.push(this.varint());
    return values;
  }

  private word(): number {
    const { bytes, at } = this;
    this.at = at + 4;
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
  }
}
