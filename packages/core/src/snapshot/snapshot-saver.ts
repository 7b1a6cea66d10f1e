import type { Utf8 } from '../base/utf8.ts';
import type { Archive } from '../structures/archive.ts';
import type { Column } from '../structures/columns.ts';
import { bytesOfColumn, kindOf, SNAPSHOT_SCHEMA, TAG, type Tag } from './snapshot-archive.ts';

/** Size of a piece; only the last one is shorter. */
const PIECE_BYTES = 2 ** 18;

/**
 * Writes named fields as a stream: tag, name, content. All numbers and lengths are 64-bit floats;
 * columns are their raw memory, lowest byte first.
 *
 * Memory stays bounded: only one piece is held at a time, whatever the size of the state. A piece
 * is valid only while `write` runs, because the next one reuses its memory.
 */
export class SnapshotSaver implements Archive {
  readonly isLoading = false;
  readonly schema = SNAPSHOT_SCHEMA;
  private readonly write: (piece: Uint8Array) => void;
  private readonly utf8: Utf8;
  private readonly piece = new Uint8Array(PIECE_BYTES);
  private readonly scratch = new Float64Array(1);
  private used = 0;

  constructor(write: (piece: Uint8Array) => void, utf8: Utf8) {
    this.write = write;
    this.utf8 = utf8;
  }

  section(name: string): void {
    this.field(TAG.section, name);
  }

  number(name: string, value: number): number {
    this.field(TAG.number, name);
    this.double(value);
    return value;
  }

  numbers(name: string, values: readonly number[]): readonly number[] {
    this.field(TAG.numbers, name);
    this.double(values.length);
    for (const value of values) this.double(value);
    return values;
  }

  texts(name: string, values: readonly string[]): readonly string[] {
    this.field(TAG.texts, name);
    this.double(values.length);
    for (const value of values) this.text(value);
    return values;
  }

  column(name: string, column: Column, length: number): void {
    this.field(TAG.column, name);
    this.text(kindOf(column));
    this.double(length);
    const bytes = bytesOfColumn(column, length);
    this.run(bytes, 0, bytes.length);
  }

  bytes(name: string, length: number): void {
    this.field(TAG.bytes, name);
    this.double(length);
  }

  run(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.used === PIECE_BYTES) this.flush();
      const until = Math.min(end, at + PIECE_BYTES - this.used);
      this.piece.set(bytes.subarray(at, until), this.used);
      this.used += until - at;
      at = until;
    }
  }

  end(): void {
    this.field(TAG.end, '');
    this.flush();
  }

  private field(tag: Tag, name: string): void {
    this.run(Uint8Array.of(tag), 0, 1);
    this.text(name);
  }

  private text(text: string): void {
    const bytes = this.utf8.encode(text);
    this.double(bytes.length);
    this.run(bytes, 0, bytes.length);
  }

  private double(value: number): void {
    this.scratch[0] = value;
    this.run(bytesOfColumn(this.scratch, 1), 0, 8);
  }

  private flush(): void {
    this.write(this.piece.subarray(0, this.used));
    this.used = 0;
  }
}
