/**
 * Bytes of a JSON text inside a larger buffer, or of a reference to a blob that holds one
 * (`blob-reference.ts`); an empty range stands for null.
 */
export interface PayloadRange {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Points `range` at the part of `bytes` that belongs to entry `index`. */
export function pointAt(
  range: PayloadRange,
  bytes: Uint8Array,
  ends: ArrayLike<number>,
  index: number,
): void {
  range.bytes = bytes;
  range.start = index === 0 ? 0 : ends[index - 1];
  range.end = ends[index];
}
