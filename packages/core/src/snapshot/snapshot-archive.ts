import type { Column } from '../structures/columns.ts';

/** The snapshot was saved by another version of Sluice, or is of another partition. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';

  constructor(finding: string) {
    super(`the snapshot cannot be loaded: ${finding}`);
  }
}

/**
 * Counts up with every change to what parts persist. A snapshot says under which number it was
 * saved, so that nobody takes the fields of one for those of another.
 */
export const SNAPSHOT_SCHEMA = 3;

/** How a snapshot announces what follows. */
export const TAG = {
  end: 0,
  section: 1,
  number: 2,
  numbers: 3,
  texts: 4,
  column: 5,
  bytes: 6,
} as const;

export type Tag = (typeof TAG)[keyof typeof TAG];

const KINDS = [Float64Array, Uint32Array, Int32Array, Uint16Array, Int16Array, Uint8Array] as const;

/** The kind of a column as a snapshot names it. */
export function kindOf(column: Column): string {
  const kind = KINDS.find((each) => column instanceof each);
  return kind?.name ?? '';
}

/** The memory of a column. Snapshots hold it as it is; every platform of Sluice agrees on it. */
export function bytesOfColumn(column: Column, length: number): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, length * column.BYTES_PER_ELEMENT);
}
