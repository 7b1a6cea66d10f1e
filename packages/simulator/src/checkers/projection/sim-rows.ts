import { namespaceOf } from '@sluice/core';
import type { MarkStore, RowStore } from '@sluice/server';
import type { RandomStream } from '../../kernel/random.ts';

type StoredRecord = ReturnType<RowStore['readAhead']> extends Map<number, infer T> ? T : never;
/** What is written; as JSON it is a stored record. */
type WrittenRecord = Parameters<RowStore['write']>[0][number];
type Mark = ReturnType<MarkStore['read']>;
type Program = ReturnType<MarkStore['programs']>[number];

/** The disk of the projection refuses a write. Earlier writes are kept. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused';
}

/**
 * The files of a projection in the world. Rows outlive the server. They are stored as texts, so
 * that a row cannot change without a write. A write may fail with half of its rows done, as when
 * they belong to two days. The write of the mark may also fail alone.
 */
export class SimRows implements RowStore {
  private readonly random: RandomStream;
  private readonly failureRate: number;
  private readonly texts = new Map<number, string>();
  newest = 0;
  readonly bytes = 0;
  readonly mark: MarkStore;

  constructor(random: RandomStream, failureRate: number) {
    this.random = random;
    this.failureRate = failureRate;
    let mark: Mark = { position: 0, at: 0, rebuildTo: 0 };
    const programs = new Map<number, Program>();
    this.mark = {
      read: () => mark,
      write: (next, added = []) => {
        this.mayFail();
        mark = next;
        for (const program of added) programs.set(program.place, program);
      },
      programs: () => [...programs.values()],
      close: () => undefined,
    };
  }

  write(records: readonly WrittenRecord[]): void {
    const isFailing = this.random.chance(this.failureRate);
    const written = isFailing ? records.slice(0, records.length / 2) : records;
    for (const { record, position } of written) {
      this.texts.set(record.number, JSON.stringify({ record, position }));
      this.newest = Math.max(this.newest, record.number);
    }
    if (isFailing) throw new RowsRefused('the disk of the projection is full');
  }

  read(number: number): StoredRecord | undefined {
    const text = this.texts.get(number);
    return text === undefined ? undefined : (JSON.parse(text) as StoredRecord);
  }

  readAhead(number: number, count: number): Map<number, StoredRecord> {
    const found = new Map<number, StoredRecord>();
    for (let next = number; next < number + count; next++) {
      const stored = this.read(next);
      if (stored !== undefined) found.set(next, stored);
    }
    return found;
  }

  /** All rows of a namespace: worlds use no other filter. */
  *find(
    { namespace }: { readonly namespace: string },
    _times: unknown,
    isOld: (number: number) => boolean,
  ): Generator<StoredRecord['record']> {
    for (const number of [...this.texts.keys()].sort((a, b) => b - a)) {
      const stored = isOld(number) ? undefined : this.read(number);
      if (stored !== undefined && namespaceOf(stored.record.queue) === namespace) {
        yield stored.record;
      }
    }
  }

  /** No task in these worlds has a payload that is too big for a request. */
  names(): boolean {
    return false;
  }

  /** A world is shorter than its retention period. */
  retain(): boolean {
    return false;
  }

  close(): void {}

  private mayFail(): void {
    if (this.random.chance(this.failureRate)) throw new RowsRefused('the mark is not written');
  }
}
