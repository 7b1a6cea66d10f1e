import { invariant } from '../base/invariant.ts';
import type { Utf8 } from '../base/utf8.ts';
import { copyBytes } from '../structures/arena.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { CLAIM_WORDS, type DedupeClaim } from '../task/dedupe-claim.ts';

/**
 * Writes the records of one log batch, one record per command, straight into the buffer that is
 * appended.
 *
 * batch.decodes-alone: A batch decodes alone: a name is spelled out where the batch uses it first
 *   and is a number after that (docs/decisions/0005).
 * batch.no-empty-record: A record without events leaves no trace.
 *
 * Record: length of the rest (u32, little endian), time (varint), events. Names: 0, length, UTF-8;
 * or 1 + place in the order of first use.
 */
const LENGTH_BYTES = 4;

/** Upper bound of an event's size without its names and payload. */
const EVENT_BYTES_MAX = 192;

const VARINT_BYTES_MAX = 8;

const INITIAL_BYTES = 2 ** 20;

export class RecordWriter {
  bytes = new Uint8Array(INITIAL_BYTES);
  length = 0;
  recordCount = 0;
  private recordStart = 0;
  /** Where the first event of the open record begins. */
  private eventsStart = 0;
  private readonly names = new Map<string, number>();
  private readonly utf8: Utf8;

  constructor(utf8: Utf8) {
    this.utf8 = utf8;
  }

  /** Starts an empty batch in the same buffer. */
  reset(): void {
    this.length = 0;
    this.recordCount = 0;
    this.names.clear();
  }

  beginRecord(at: number): void {
    this.reserve(EVENT_BYTES_MAX);
    this.recordStart = this.length;
    this.length += LENGTH_BYTES;
    this.varint(at);
    this.eventsStart = this.length;
  }

  endRecord(): void {
    if (this.length === this.eventsStart) {
      this.length = this.recordStart;
      return;
    }
    const size = this.length - this.recordStart - LENGTH_BYTES;
    this.bytes[this.recordStart] = size;
    this.bytes[this.recordStart + 1] = size >>> 8;
    this.bytes[this.recordStart + 2] = size >>> 16;
    this.bytes[this.recordStart + 3] = size >>> 24;
    this.recordCount += 1;
  }

  beginEvent(type: number, version: number): void {
    this.reserve(EVENT_BYTES_MAX);
    this.bytes[this.length] = type;
    this.bytes[this.length + 1] = version;
    this.length += 2;
  }

  /** A whole number from 0 to 255. */
  byte(value: number): void {
    invariant((value & 255) === value, 'a byte of an event is a whole number from 0 to 255');
    this.bytes[this.length++] = value;
  }

  /** A whole number from 0 to 2^53 - 1, seven bits per byte, lowest first. */
  varint(value: number): void {
    // A number that the reader would refuse or misread must not reach the log. An event is encoded
    // before it is applied, so this ends the process while the log is still readable.
    invariant(value >= 0 && Number.isSafeInteger(value), 'a number of an event is whole');
    let rest = value;
    while (rest >= 0x10000000) {
      this.bytes[this.length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.bytes[this.length++] = (rest & 127) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  name(text: string): void {
    const known = this.names.get(text);
    if (known !== undefined) {
      this.varint(known + 1);
      return;
    }
    this.names.set(text, this.names.size);
    const encoded = this.utf8.encode(text);
    this.reserve(encoded.length + EVENT_BYTES_MAX);
    this.byte(0);
    this.varint(encoded.length);
    this.bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  /** A byte that says which texts are not empty, then those texts. */
  sparse(texts: readonly string[]): void {
    let stated = 0;
    for (let i = 0; i < texts.length; i++) if (texts[i] !== '') stated |= 1 << i;
    this.byte(stated);
    for (let i = 0; stated >>> i !== 0; i++) {
      if (((stated >>> i) & 1) === 1) this.name(texts[i]);
    }
  }

  /** The window; if it is not 0, also the words of the claim. */
  claim({ words, start, windowMs }: DedupeClaim): void {
    this.varint(windowMs);
    if (windowMs === 0) return;
    for (let i = start; i < start + CLAIM_WORDS; i++) this.word(words[i]);
  }

  payload(range: PayloadRange): void {
    const size = range.end - range.start;
    this.reserve(size + EVENT_BYTES_MAX);
    this.varint(size);
    copyBytes(range.bytes, range.start, range.end, { target: this.bytes, at: this.length });
    this.length += size;
  }

  /**
   * A payload in pieces. So far all of it is spelled out, which the leading 0 says; another number
   * will announce parts of payloads that the log has already.
   */
  pieces(range: PayloadRange): void {
    this.byte(0);
    this.payload(range);
  }

  numbers(values: readonly number[]): void {
    this.reserve((values.length + 1) * VARINT_BYTES_MAX + EVENT_BYTES_MAX);
    this.varint(values.length);
    for (const value of values) this.varint(value);
  }

  private word(value: number): void {
    this.bytes[this.length] = value;
    this.bytes[this.length + 1] = value >>> 8;
    this.bytes[this.length + 2] = value >>> 16;
    this.bytes[this.length + 3] = value >>> 24;
    this.length += 4;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = new Uint8Array(2 ** Math.ceil(Math.log2(this.length + more)));
    invariant(larger.length <= 2 ** 30, 'a batch stays far below a gigabyte');
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
