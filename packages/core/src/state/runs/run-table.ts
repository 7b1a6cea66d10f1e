import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { LimitError } from '../../base/limit-error.ts';
import { CHILDREN_SCHEMA } from '../../snapshot/snapshot-archive.ts';
import type { Archive } from '../../structures/archive.ts';
import { float64s, int32s, uint8s, uint32s } from '../../structures/column-memory.ts';
import {
  type Column,
  ColumnTable,
  columnsOf,
  type ReadonlyColumns,
} from '../../structures/columns.ts';
import { hashNumber, SlotIndex } from '../../structures/slot-index.ts';

/** Read-only view for code outside `apply`. */
export type RunReader = ReadonlyColumns<RunTable> &
  Readonly<Pick<RunTable, 'capacity' | 'count' | 'used' | 'find' | 'nextFree'>>;

/** Runs in columns, as tasks are (docs/decisions/0002). */
export class RunTable extends ColumnTable {
  /** From the same sequence as the numbers of tasks; 0 while the slot is free. */
  readonly number = float64s(this.capacity);
  readonly startedAt = float64s(this.capacity);
  readonly endedAt = float64s(this.capacity);
  readonly state = uint8s(this.capacity);
  readonly reason = uint8s(this.capacity);
  /** State that it will end with; meaningful while it stops. */
  readonly outcome = uint8s(this.capacity);
  readonly priority = uint8s(this.capacity);
  /** Place of its definition. */
  readonly program = uint32s(this.capacity);
  /** Slot of its first step, and the number of steps in all its frames. */
  readonly base = uint32s(this.capacity);
  readonly size = uint32s(this.capacity);
  /** Slot of the step that decided its outcome plus one; 0 for none. */
  readonly decider = uint32s(this.capacity);
  /** When it times out; meaningful while it has a timer. */
  readonly timerAt = float64s(this.capacity);
  /** Steps that are running, stopping or reported. */
  readonly live = uint32s(this.capacity);
  /** Tasks that its steps may still submit: there is room for all of them. */
  readonly promised = uint32s(this.capacity);
  /** Whether a permissive step failed: the run fails at its end. */
  readonly hasFailure = uint8s(this.capacity);
  /** Ends of the lists of its steps, by state: due, running, stopping and reported. */
  readonly dueHead = int32s(this.capacity);
  readonly dueTail = int32s(this.capacity);
  readonly runningHead = int32s(this.capacity);
  readonly runningTail = int32s(this.capacity);
  readonly stoppingHead = int32s(this.capacity);
  readonly stoppingTail = int32s(this.capacity);
  readonly reportedHead = int32s(this.capacity);
  readonly reportedTail = int32s(this.capacity);
  /** Indexes of the interned correlation id and tags; 0 for none. */
  readonly correlation = uint32s(this.capacity);
  readonly tags = uint32s(this.capacity);
  /** Entry of its dedupe key plus one; 0 without a key. */
  readonly dedupe = uint32s(this.capacity);
  readonly input = float64s(this.capacity);
  readonly inputLength = uint32s(this.capacity);
  /** The output, or the error of a run that did not succeed. */
  readonly output = float64s(this.capacity);
  readonly outputLength = uint32s(this.capacity);
  readonly variables = float64s(this.capacity);
  readonly variablesLength = uint32s(this.capacity);
  /** Number and start of the run that started it; 0 for a run that a call started. */
  readonly parent = float64s(this.capacity);
  readonly parentAt = float64s(this.capacity);
  /** Slot of the step that waits for its end plus one; 0 when none does. */
  readonly parentStep = uint32s(this.capacity);
  /** Index of the interned reference of the step that started it. */
  readonly parentReference = uint32s(this.capacity);
  /** How it is related to its parent. */
  readonly relation = uint8s(this.capacity);
  /** Number of runs above it. */
  readonly depth = uint8s(this.capacity);
  /** Number of the newest evaluation for its output, and 1 while its result is awaited. */
  readonly evaluation = uint32s(this.capacity);
  readonly isEvaluating = uint8s(this.capacity);
  /** 1 while it is in the line of runs that have something to do. */
  readonly isInLine = uint8s(this.capacity);
  /** Links in the line, or in the list of ended runs. */
  readonly next = int32s(this.capacity);
  readonly previous = int32s(this.capacity);
  count = 0;

  private readonly index = new SlotIndex(this.capacity);
  /** Columns that runs without children did not have (`CHILDREN_SCHEMA`). */
  private readonly newer: readonly Column[] = [
    this.parent,
    this.parentAt,
    this.parentStep,
    this.parentReference,
    this.relation,
    this.depth,
    this.evaluation,
    this.isEvaluating,
  ];
  /** Head of the list of freed slots, linked by `next`. */
  private freed: Slot = NO_SLOT;
  private fresh = 0;

  /** Slots from here on were never in use. */
  get used(): number {
    return this.fresh;
  }

  find(number: TaskNumber): Slot {
    let slot = this.index.first(hashNumber(number));
    while (slot !== NO_SLOT && this.number[slot] !== number) slot = this.index.following(slot);
    return slot;
  }

  /** The slot that the next `allocate` will take; `NO_SLOT` when the table is full. */
  nextFree(): Slot {
    if (this.freed !== NO_SLOT) return this.freed;
    return this.fresh < this.capacity ? (this.fresh as Slot) : NO_SLOT;
  }

  /** Takes the slot that `nextFree` names and clears what its last run left there. */
  allocate(number: TaskNumber): Slot {
    const slot = this.nextFree();
    if (slot === NO_SLOT) throw new LimitError('tasksMax', this.capacity);
    if (slot === this.freed) this.freed = this.next[slot] as Slot;
    else this.fresh += 1;
    this.number[slot] = number;
    for (const column of [this.endedAt, this.state, this.reason, this.outcome, this.decider]) {
      column[slot] = 0;
    }
    for (const column of this.newer) column[slot] = 0;
    this.live[slot] = 0;
    this.promised[slot] = 0;
    this.hasFailure[slot] = 0;
    this.isInLine[slot] = 0;
    for (const ends of [this.dueHead, this.dueTail, this.runningHead, this.runningTail]) {
      ends[slot] = NO_SLOT;
    }
    for (const ends of [this.stoppingHead, this.stoppingTail]) ends[slot] = NO_SLOT;
    for (const ends of [this.reportedHead, this.reportedTail]) ends[slot] = NO_SLOT;
    this.index.add(slot, hashNumber(number));
    this.count += 1;
    return slot;
  }

  free(slot: Slot): void {
    this.index.remove(slot);
    this.number[slot] = 0;
    this.next[slot] = this.freed;
    this.freed = slot;
    this.count -= 1;
  }

  persist(archive: Archive): void {
    this.count = archive.number('count', this.count);
    this.freed = archive.number('freed', this.freed) as Slot;
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('tasksMax', this.capacity);
    const references: readonly unknown[] = [this.input, this.output, this.variables];
    for (const [name, column] of columnsOf(this)) {
      const isNewer = this.newer.includes(column) && archive.schema < CHILDREN_SCHEMA;
      if (!references.includes(column) && !isNewer) archive.column(name, column, this.fresh);
    }
    if (!archive.isLoading) return;
    for (let slot = 0; slot < this.fresh; slot++) {
      const number = this.number[slot];
      if (number !== 0) this.index.add(slot as Slot, hashNumber(number));
    }
  }
}
