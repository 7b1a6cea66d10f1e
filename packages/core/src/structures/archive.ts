import type { Column } from './columns.ts';

/**
 * Saves, loads or hashes the parts of the state.
 *
 * A part has one method for all three, `persist(archive)`, which names each thing that it keeps.
 * Saving writes the value, loading replaces it with the saved one, and hashing hashes it. So the
 * three always agree on what exists, and in which order.
 *
 * Only facts go into an archive. Derived data, like an index, is rebuilt after loading. So is data
 * that depends on more than events, like places in the arena and in the timing wheel.
 */
export interface Archive {
  /** True while loading: parts must rebuild derived data. */
  readonly isLoading: boolean;

  /** What a later schema added is left out. */
  readonly schema: number;

  /** What follows belongs to this part. */
  section(name: string): void;

  number(name: string, value: number): number;
  numbers(name: string, values: readonly number[]): readonly number[];
  texts(name: string, values: readonly string[]): readonly string[];

  /** The first `length` entries of a column, in place. The caller ensures that they fit. */
  column(name: string, column: Column, length: number): void;

  /** Announces this many bytes, which follow in any number of runs. */
  bytes(name: string, length: number): void;
  /** Saves the bytes from `start` to `end`, or overwrites them with the saved ones. */
  run(bytes: Uint8Array, start: number, end: number): void;
}
