import type { Utf8 } from '../base/utf8.ts';
import type { Archive } from '../structures/archive.ts';
import type { Column } from '../structures/columns.ts';
import {
  bytesOfColumn,
  kindOf,
  SnapshotError,
  SnapshotVersionError,
  TAG,
  type Tag,
} from './snapshot-archive.ts';

/** Real lists and texts are far shorter. A larger length means damage and must not fill memory. */
const LENGTH_MAX = 2 ** 24;

/**
 * Reads what `SnapshotSaver` wrote. A field that is missing, unknown, too long or of another kind
 * is an error that names the field.
 */
export class SnapshotLoader implements Archive {
  readonly isLoading = true;
  readonly schema: number;
  private readonly pieces: Iterator<Uint8Array>;
  private readonly utf8: Utf8;
  private readonly scratch = new Float64Array(1);
  private readonly tag = new Uint8Array(1);
  private piece: Uint8Array = new Uint8Array(0);
  private at = 0;
  private inSection = '';

  constructor(pieces: Iterable<Uint8Array>, utf8: Utf8, schema: number) {
    this.schema = schema;
    this.pieces = pieces[Symbol.iterator]();
    this.utf8 = utf8;
  }

  section(name: string): void {
    this.inSection = '';
    this.expect(TAG.section, name);
    this.inSection = `${name}.`;
  }

  number(name: string): number {
    this.expect(TAG.number, name);
    return this.double();
  }

  numbers(name: string): number[] {
    this.expect(TAG.numbers, name);
    return Array.from({ length: this.length() }, () => this.double());
  }

  texts(name: string): string[] {
    this.expect(TAG.texts, name);
    return Array.from({ length: this.length() }, () => this.text());
  }

  column(name: string, column: Column, length: number): void {
    this.expect(TAG.column, name);
    const kind = this.text();
    const stored = this.double();
    const place = `'${this.inSection}${name}'`;
    if (kind !== kindOf(column)) {
      throw new SnapshotVersionError(`${place} is a ${kind}, not a ${kindOf(column)}`);
    }
    if (stored !== length) {
      throw new SnapshotError(`${place} has ${stored} entries, not ${length}`);
    }
    const bytes = bytesOfColumn(column, length);
    this.run(bytes, 0, bytes.length);
  }

  bytes(name: string, length: number): void {
    this.expect(TAG.bytes, name);
    const stored = this.double();
    if (stored === length) return;
    throw new SnapshotError(`'${this.inSection}${name}' has ${stored} bytes, not ${length}`);
  }

  run(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.at === this.piece.length) this.nextPiece();
      const take = Math.min(end - at, this.piece.length - this.at);
      bytes.set(this.piece.subarray(this.at, this.at + take), at);
      this.at += take;
      at += take;
    }
  }

  end(): void {
    this.inSection = '';
    this.expect(TAG.end, '');
    if (this.at < this.piece.length || !this.pieces.next().done) {
      throw new SnapshotError('something follows its end');
    }
  }

  /** Closes the source, whether it was read to its end or not. */
  close(): void {
    this.pieces.return?.();
  }

  private expect(tag: Tag, name: string): void {
    this.run(this.tag, 0, 1);
    const foundName = this.text();
    if (this.tag[0] === tag && foundName === name) return;
    const found = describeField(this.tag[0], this.inSection + foundName);
    const expected = describeField(tag, this.inSection + name);
    throw new SnapshotVersionError(
      `it has ${found} where this version of Sluice expects ${expected}`,
    );
  }

  private text(): string {
    const length = this.length();
    const bytes = new Uint8Array(length);
    this.run(bytes, 0, length);
    return this.utf8.decode(bytes);
  }

  private length(): number {
    const length = this.double();
    if (Number.isInteger(length) && length >= 0 && length <= LENGTH_MAX) return length;
    throw new SnapshotError(`something in '${this.inSection}' has a length of ${length}`);
  }

  private double(): number {
    this.run(bytesOfColumn(this.scratch, 1), 0, 8);
    return this.scratch[0];
  }

  private nextPiece(): void {
    const { done, value } = this.pieces.next();
    if (done) throw new SnapshotError('it ends before it is complete');
    this.piece = value;
    this.at = 0;
  }
}

const TAG_NAMES = new Map<number, string>(Object.entries(TAG).map(([name, tag]) => [tag, name]));

function describeField(tag: number, name: string): string {
  if (tag === TAG.end) return 'its end';
  return `${TAG_NAMES.get(tag) ?? `a field of kind ${tag}`} '${name}'`;
}
