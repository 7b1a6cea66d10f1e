import type { Column } from '../structures/columns.ts';

/** Another version of Sluice saved the snapshot, or it belongs to another partition. */
export class SnapshotError extends Error {
  override readonly name: string = 'SnapshotError';
  /** The part of the message that says what was found. */
  readonly finding: string;

  constructor(finding: string) {
    super(`the snapshot cannot be loaded: ${finding}`);
    this.finding = finding;
  }
}

/** Another version of Sluice saved the snapshot, and that version can load it. */
export class SnapshotVersionError extends SnapshotError {
  override readonly name = 'SnapshotVersionError';
}

/**
 * Increases with every change to what the parts persist. A snapshot records its schema number, so
 * that its fields are never misread under another schema.
 */
export const SNAPSHOT_SCHEMA = 5;

/** Snapshots from this schema on are loaded; what a later schema added is empty in them. */
export const OLDEST_SCHEMA = 3;

/** The schema that added workflows and runs. */
export const RUNS_SCHEMA = 4;

/** The schema that added runs that other runs started. */
export const CHILDREN_SCHEMA = 5;

/** The schema that added schedules. */
export const SCHEDULES_SCHEMA = 5;

/** Tags that say what follows in a snapshot. */
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

/** The name of a column's kind in a snapshot. */
export function kindOf(column: Column): string {
  const kind = KINDS.find((each) => column instanceof each);
  return kind?.name ?? '';
}

/**
 * The memory of a column. Snapshots hold it as it is, because all supported platforms share its
 * byte order.
 */
export function bytesOfColumn(column: Column, length: number): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, length * column.BYTES_PER_ELEMENT);
}
