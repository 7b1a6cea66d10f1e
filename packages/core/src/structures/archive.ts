import type { Column } from './columns.ts';

/**
 * What the parts of the state are saved to, loaded from and hashed by.
 *
 * A part has one method for all three, `persist(archive)`, which names each thing that it keeps:
 * saving writes it down, loading puts in its place what was written, hashing looks at it. So the
 * three cannot disagree about what there is, and the order is the same in all of them.
 *
 * Only facts go into an archive. What is derived from them, like an index, or depends on more than
 * events, like places in the arena and in the timing wheel, is made anew after loading.
 */
export interface Archive {
  /** Set while parts have to make anew what is derived. */
  readonly isLoading: boolean;

  /** What follows belongs to this part. */
  section(name: string): void;

  number(name: string, value: number): number;
  numbers(name: string, values: readonly number[]): readonly number[];
  texts(name: string, values: readonly string[]): readonly string[];

  /** The first `length` entries of a column, in place. Whoever asks sees to it that they fit. */
  column(name: string, column: Column, length: number): void;

  /** Announces as many bytes in any number of runs. */
  bytes(name: string, length: number): void;
  /** Saves bytes from `start` to `end`, or overwrites them with those that were saved. */
  run(bytes: Uint8Array, start: number, end: number): void;
}
