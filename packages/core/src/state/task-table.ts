import {
  type HolderIndex,
  type LeaseNumber,
  NO_SLOT,
  type Slot,
  type TaskNumber,
} from '../base/ids.ts';
import { LimitError } from '../base/limit-error.ts';
import { RUNS_SCHEMA } from '../snapshot/snapshot-archive.ts';
import type { Archive } from '../structures/archive.ts';
import { float64s, int32s, uint8s, uint16s, uint32s } from '../structures/column-memory.ts';
import { ColumnTable, columnsOf, type ReadonlyColumns } from '../structures/columns.ts';
import { hashNumber, SlotIndex } from '../structures/slot-index.ts';
import { taskPayloads } from './payload-columns.ts';

/** In place of a step: the run of the task has left memory, and the task leaves next. */
export const LEFT_RUN = 2 ** 32 - 1;

/** Read-only view for code outside `apply`. */
export type TaskReader = ReadonlyColumns<TaskTable> &
  Readonly<
    Pick<TaskTable, 'capacity' | 'count' | 'used' | 'find' | 'nextFree' | 'hasLease' | 'holderOf'>
  >;

/**
 * Tasks in columns: one typed array per field, indexed by slot (docs/decisions/0002).
 *
 * All columns have their full length from the start. The kernel allocates memory only for touched
 * pages. So an empty table costs nothing, nothing is copied to grow, and the limit on tasks (L9) is
 * the length itself. Freed slots are reused before fresh ones, last in, first out.
 */
export class TaskTable extends ColumnTable {
  /** 0 while the slot is free. */
  readonly number = float64s(this.capacity);
  readonly submittedAt = float64s(this.capacity);
  readonly state = uint8s(this.capacity);
  readonly reason = uint8s(this.capacity);
  readonly priority = uint8s(this.capacity);
  /** Index of the task's queue, which has its type. */
  readonly queue = uint16s(this.capacity);
  /** Index of the interned resources and constraints. Never changes. */
  readonly shape = uint32s(this.capacity);
  /** Position while queued: at one level the smallest order goes first, across all queues. */
  readonly order = float64s(this.capacity);
  /** Attempts so far; 0 before the first lease. */
  readonly attempt = uint16s(this.capacity);
  /** The current lease, or the last one; 0 before the first. */
  readonly lease = float64s(this.capacity);
  /** The holder of the current lease, or of the last one; meaningless before the first. */
  readonly holder = int32s(this.capacity);
  /** The report that ended the last lease, so that a repeat of it is recognised. */
  readonly answered = uint8s(this.capacity);
  /**
   * Entry of the task's dedupe key plus one; 0 without a key. The entry may have been reused since.
   */
  readonly dedupe = uint32s(this.capacity);
  /** Index of the interned retry policy. */
  readonly retry = uint32s(this.capacity);
  /**
   * While waiting: when the task is due. While queued: when it joined the queue. While paused: the
   * time that it waits for, or, if it was queued, minus the time that it had spent in the queue.
   */
  readonly dueAt = float64s(this.capacity);
  /** When its timer is due, the earliest of its deadlines; meaningless without a timer. */
  readonly timerAt = float64s(this.capacity);
  /** Indexes of the interned timeouts, tags, callback and parent; 0 for none. */
  readonly timeouts = uint32s(this.capacity);
  readonly tags = uint32s(this.capacity);
  readonly callback = uint32s(this.capacity);
  readonly parent = uint32s(this.capacity);
  /** When it was last retried manually or redriven, which restarts `totalMs`; 0 if never. */
  readonly retriedAt = float64s(this.capacity);
  /** The reason of the stop request to its worker; `NO_STOP` without one or without a lease. */
  readonly stop = uint8s(this.capacity);
  /** When the lease is revoked after a stop request. */
  readonly stopAt = float64s(this.capacity);
  /** When cancellation was requested while it was leased; 0 if never. */
  readonly cancelAskedAt = float64s(this.capacity);
  /** Times of the current or last attempt; 0 until they happened. */
  readonly leasedAt = float64s(this.capacity);
  readonly startedAt = float64s(this.capacity);
  /** When the last attempt, or the finished task, ended; 0 while an attempt is active. */
  readonly endedAt = float64s(this.capacity);
  /** Arena reference and length of the input; the length is 0 for null. */
  readonly input = float64s(this.capacity);
  readonly inputLength = uint32s(this.capacity);
  /** The same for the output of a succeeded task or the error of a failed one. */
  readonly result = float64s(this.capacity);
  readonly resultLength = uint32s(this.capacity);
  /**
   * Key of the last request that ended the task from outside; 0 without one. It is kept after a
   * retry, because the request may be repeated after that.
   */
  readonly endKey = float64s(this.capacity);
  /** 1 for a failed or timed-out task that is no longer a dead letter. */
  readonly isDiscarded = uint8s(this.capacity);
  /** Slot of its step plus one; 0 for a task that belongs to no run, or `LEFT_RUN`. */
  readonly step = uint32s(this.capacity);
  /** Links in the list that holds the task: its lane, dead letters or finished tasks. */
  readonly next = int32s(this.capacity);
  readonly previous = int32s(this.capacity);
  /** Links in the list of its holder's leases, or in the dead letters of its namespace. */
  readonly nextHeld = int32s(this.capacity);
  readonly previousHeld = int32s(this.capacity);
  /** Number of tasks in memory. */
  count = 0;

  private readonly index = new SlotIndex(this.capacity);
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

  /**
   * Takes the slot that `nextFree` names. Columns that a submit does not set are reset; the others
   * keep old values until `apply` sets them.
   */
  allocate(number: TaskNumber): Slot {
    const slot = this.nextFree();
    if (slot === NO_SLOT) throw new LimitError('tasksMax', this.capacity);
    if (slot === this.freed) this.freed = this.next[slot] as Slot;
    else this.fresh += 1;

    this.number[slot] = number;
    this.attempt[slot] = 0;
    this.lease[slot] = 0;
    this.answered[slot] = 0;
    this.leasedAt[slot] = 0;
    this.startedAt[slot] = 0;
    this.endedAt[slot] = 0;
    // Rarely used columns are written only when needed: a page that is never written costs no
    // memory.
    if (this.retriedAt[slot] !== 0) this.retriedAt[slot] = 0;
    if (this.isDiscarded[slot] !== 0) this.isDiscarded[slot] = 0;
    if (this.endKey[slot] !== 0) this.endKey[slot] = 0;
    if (this.cancelAskedAt[slot] !== 0) this.cancelAskedAt[slot] = 0;
    if (this.step[slot] !== 0) this.step[slot] = 0;
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

  /** Whether `lease` is the current or last lease of the task in this slot. */
  hasLease(slot: Slot, lease: LeaseNumber): boolean {
    return slot < this.capacity && this.number[slot] !== 0 && this.lease[slot] === lease;
  }

  holderOf(slot: Slot): HolderIndex {
    return this.holder[slot] as HolderIndex;
  }

  /**
   * All slots keep their places, including free ones: events name slots, and the next event must
   * find the same one free. Payloads are persisted separately.
   */
  persist(archive: Archive): void {
    this.count = archive.number('count', this.count);
    this.freed = archive.number('freed', this.freed) as Slot;
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('tasksMax', this.capacity);
    const references = new Set<unknown>(taskPayloads(this).map((each) => each.references));
    for (const [name, column] of columnsOf(this)) {
      const isOlder = column !== this.step || archive.schema >= RUNS_SCHEMA;
      if (isOlder && !references.has(column)) archive.column(name, column, this.fresh);
    }
    if (!archive.isLoading) return;
    for (let slot = 0; slot < this.fresh; slot++) {
      const number = this.number[slot];
      if (number !== 0) this.index.add(slot as Slot, hashNumber(number));
    }
  }
}
