import { NO_SLOT, type Slot, type TaskNumber } from '../base/ids.ts';
import { LimitError } from '../base/limit-error.ts';
import type { Archive } from '../structures/archive.ts';
import { float64s, int32s, uint8s, uint16s, uint32s } from '../structures/column-memory.ts';
import { ColumnTable, columnsOf, type ReadonlyColumns } from '../structures/columns.ts';
import { SlotIndex } from '../structures/slot-index.ts';
import { TimingWheel } from '../structures/timing-wheel.ts';
import { CLAIM_WORDS, type DedupeClaim, KEY_WORDS } from '../task/dedupe-claim.ts';

/** Read-only view for code outside `apply`. */
export type DedupeReader = ReadonlyColumns<DedupeTable> &
  Readonly<
    Pick<
      DedupeTable,
      | 'capacity'
      | 'count'
      | 'find'
      | 'entryOf'
      | 'copyKey'
      | 'hasSameInput'
      | 'firstDue'
      | 'earliest'
    >
  >;

/** Stands in `lastState` of a key that a whole request has; no state of a task has this number. */
const OF_REQUEST = 255;

/** A part of the words of a claim. */
interface WordRange {
  readonly from: number;
  readonly to: number;
}

/** What a key stands for, and the index of its namespace. */
interface Keyed {
  readonly task: TaskNumber;
  readonly submittedAt: number;
  readonly namespace: number;
}

/**
 * Dedupe keys that are remembered for their window, whatever happens to their tasks.
 *
 * Keys and inputs are stored as hashes. With 128 bits a collision is less likely than a hardware
 * error, and every entry has the same small size. Columns have their full length, as in the task
 * table. The key of a request stands for its first task, and so for all of them.
 *
 * - No two entries have the same key.
 */
export class DedupeTable extends ColumnTable {
  /** 0 while the entry is free. */
  readonly task = float64s(this.capacity);
  readonly submittedAt = float64s(this.capacity);
  readonly expiresAt = float64s(this.capacity);
  /** Index of the namespace that the key counts for. */
  readonly namespace = uint16s(this.capacity);
  /** State of the task when it left memory, meaningless before; or `OF_REQUEST`. */
  readonly lastState = uint8s(this.capacity);
  count = 0;
  private readonly words = uint32s(this.capacity * CLAIM_WORDS);
  /** Links of the list of freed entries. */
  private readonly nextFreed = int32s(this.capacity);
  private readonly index = new SlotIndex(this.capacity);
  private readonly timers = new TimingWheel(this.capacity, {
    dueAt: this.expiresAt,
    order: this.task,
  });
  private freed: Slot = NO_SLOT;
  private fresh = 0;

  /** The entry of the claim's key; `NO_SLOT` when it is not remembered. */
  find(claim: DedupeClaim): Slot {
    let entry = this.index.first(claim.words[claim.start]);
    while (entry !== NO_SLOT && !this.agrees(entry, claim, { from: 0, to: KEY_WORDS })) {
      entry = this.index.following(entry);
    }
    return entry;
  }

  /**
   * The entry of the task's own key; `NO_SLOT` when it has none. Looks at every entry, which is
   * fast enough for what an operator asks for one task.
   */
  entryOf(task: TaskNumber): Slot {
    for (let entry = 0; entry < this.fresh; entry++) {
      const isOwn = this.lastState[entry] !== OF_REQUEST;
      if (this.task[entry] === task && isOwn) return entry as Slot;
    }
    return NO_SLOT;
  }

  /** Writes the words of the entry's key to the start of `words`. */
  copyKey(entry: Slot, words: Uint32Array): void {
    const start = entry * CLAIM_WORDS;
    words.set(this.words.subarray(start, start + KEY_WORDS));
  }

  hasSameInput(entry: Slot, claim: DedupeClaim): boolean {
    return this.agrees(entry, claim, { from: KEY_WORDS, to: CLAIM_WORDS });
  }

  setInput(entry: Slot, claim: DedupeClaim): void {
    this.takeWords(entry, claim, { from: KEY_WORDS, to: CLAIM_WORDS });
  }

  add(claim: DedupeClaim, { task, submittedAt, namespace }: Keyed): Slot {
    if (this.count >= this.capacity) throw new LimitError('dedupeKeysMax', this.capacity);
    const entry = this.freed === NO_SLOT ? (this.fresh++ as Slot) : this.freed;
    if (entry === this.freed) this.freed = this.nextFreed[entry] as Slot;

    this.takeWords(entry, claim, { from: 0, to: CLAIM_WORDS });
    this.task[entry] = task;
    this.namespace[entry] = namespace;
    this.submittedAt[entry] = submittedAt;
    this.expiresAt[entry] = submittedAt + claim.windowMs;
    this.index.add(entry, claim.words[claim.start]);
    this.timers.add(entry);
    this.count += 1;
    return entry;
  }

  /** The key of a request, whose first task this is. */
  addRequest(claim: DedupeClaim, first: Keyed): Slot {
    const entry = this.add(claim, first);
    this.lastState[entry] = OF_REQUEST;
    return entry;
  }

  remove(entry: Slot): void {
    this.timers.remove(entry);
    this.index.remove(entry);
    this.task[entry] = 0;
    if (this.lastState[entry] === OF_REQUEST) this.lastState[entry] = 0;
    this.nextFreed[entry] = this.freed;
    this.freed = entry;
    this.count -= 1;
  }

  firstDue(now: number): Slot {
    return this.timers.firstDue(now);
  }

  earliest(): number {
    return this.timers.earliest();
  }

  /** Entries keep their places, as tasks keep their slots. */
  persist(archive: Archive): void {
    this.count = archive.number('count', this.count);
    this.freed = archive.number('freed', this.freed) as Slot;
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('dedupeKeysMax', this.capacity);
    for (const [name, column] of columnsOf(this)) {
      archive.column(name, column, (this.fresh * column.length) / this.capacity);
    }
    if (!archive.isLoading) return;
    for (let entry = 0; entry < this.fresh; entry++) {
      if (this.task[entry] === 0) continue;
      this.index.add(entry as Slot, this.words[entry * CLAIM_WORDS]);
      this.timers.add(entry as Slot);
    }
  }

  private takeWords(entry: Slot, claim: DedupeClaim, { from, to }: WordRange): void {
    for (let i = from; i < to; i++) {
      this.words[entry * CLAIM_WORDS + i] = claim.words[claim.start + i];
    }
  }

  private agrees(entry: Slot, claim: DedupeClaim, { from, to }: WordRange): boolean {
    for (let i = from; i < to; i++) {
      if (this.words[entry * CLAIM_WORDS + i] !== claim.words[claim.start + i]) return false;
    }
    return true;
  }
}
