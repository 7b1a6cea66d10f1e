import {
  type HolderIndex,
  type LeaseNumber,
  NO_SLOT,
  type Slot,
  type TaskNumber,
} from '../base/ids.ts';
import { LimitError } from '../base/limit-error.ts';
import type { Archive } from '../structures/archive.ts';
import { ColumnTable, columnsOf, type ReadonlyColumns } from '../structures/columns.ts';
import { hashNumber, SlotIndex } from '../structures/slot-index.ts';
import { payloadColumns } from './payload-columns.ts';

/** What everybody but `apply` sees of the tasks. */
export type TaskReader = ReadonlyColumns<TaskTable> &
  Readonly<
    Pick<TaskTable, 'capacity' | 'count' | 'used' | 'find' | 'nextFree' | 'hasLease' | 'holderOf'>
  >;

/**
 * Tasks in columns: one typed array per field, indexed by slot (docs/decisions/0002).
 *
 * All columns have their full length from the start. The kernel gives memory to the pages that are
 * touched, so an empty table costs nothing, nothing is ever copied to grow, and the bound on tasks
 * (L9) is the length itself. Free slots are used again last in, first out, before fresh ones.
 */
export class TaskTable extends ColumnTable {
  /** 0 while the slot is free. */
  readonly number = new Float64Array(this.capacity);
  readonly submittedAt = new Float64Array(this.capacity);
  readonly state = new Uint8Array(this.capacity);
  readonly reason = new Uint8Array(this.capacity);
  readonly priority = new Uint8Array(this.capacity);
  /** Index of the task's queue, which knows its type. */
  readonly queue = new Uint16Array(this.capacity);
  /** Place of resources and constraints among the shapes of the state. Never changes. */
  readonly shape = new Uint32Array(this.capacity);
  /** While queued, who goes first at one level, whatever the queue: the smallest number. */
  readonly order = new Float64Array(this.capacity);
  /** Attempts so far; 0 before the first lease. */
  readonly attempt = new Uint16Array(this.capacity);
  /** The current lease, or the last one; 0 before the first. */
  readonly lease = new Float64Array(this.capacity);
  /** The holder of the current lease, or of the last one; meaningless before the first. */
  readonly holder = new Int32Array(this.capacity);
  /** The report that ended the last lease, so that the same one again is known. */
  readonly answered = new Uint8Array(this.capacity);
  /**
   * Entry of the task's dedupe key plus one; 0 without a key. The entry may be another's by now.
   */
  readonly dedupe = new Uint32Array(this.capacity);
  /** Place of the retry policy among those of the state. */
  readonly retry = new Uint32Array(this.capacity);
  /**
   * While a task waits, when it is due; while it is queued, since when. While it is paused: the
   * time that it waits for, or, if it was queued, minus the time that it had been.
   */
  readonly dueAt = new Float64Array(this.capacity);
  /** When its timer is due, the earliest of its deadlines; meaningless without a timer. */
  readonly timerAt = new Float64Array(this.capacity);
  /** Places among the timeouts, tags, callbacks and parents of the state; 0 for none. */
  readonly timeouts = new Uint32Array(this.capacity);
  readonly tags = new Uint32Array(this.capacity);
  readonly callback = new Uint32Array(this.capacity);
  readonly parent = new Uint32Array(this.capacity);
  /** When it was last retried by hand or redriven, since when its total time counts; 0 if never. */
  readonly retriedAt = new Float64Array(this.capacity);
  /** Why its holder was asked to stop, as a reason; `NO_STOP` unless it is held and was asked. */
  readonly stop = new Uint8Array(this.capacity);
  /** When the lease of one that was asked to stop is revoked. */
  readonly stopAt = new Float64Array(this.capacity);
  /** When somebody asked to cancel it while it was held; 0 if nobody did. */
  readonly cancelAskedAt = new Float64Array(this.capacity);
  /** 0 until it happened; of the current attempt, or of the last one. */
  readonly leasedAt = new Float64Array(this.capacity);
  readonly startedAt = new Float64Array(this.capacity);
  /** When the last attempt ended, and a finished task with it; 0 while one is under way. */
  readonly endedAt = new Float64Array(this.capacity);
  /** Arena reference and length of the input, which is 0 when it is null. */
  readonly input = new Float64Array(this.capacity);
  readonly inputLength = new Uint32Array(this.capacity);
  /** Likewise the output of a succeeded task or the error of a failed one. */
  readonly result = new Float64Array(this.capacity);
  readonly resultLength = new Uint32Array(this.capacity);
  /**
   * Key of the last request that ended the task from outside; 0 without one. It outlives a retry:
   * the request may be sent again after that.
   */
  readonly endKey = new Float64Array(this.capacity);
  /** 1 for a failed or timed-out task that is no dead letter any more. */
  readonly isDiscarded = new Uint8Array(this.capacity);
  /** Neighbours in the one list that holds the task: its lane, or the finished tasks. */
  readonly next = new Int32Array(this.capacity);
  readonly previous = new Int32Array(this.capacity);
  /** Neighbours in the list of what the holder of the lease holds. */
  readonly nextHeld = new Int32Array(this.capacity);
  readonly previousHeld = new Int32Array(this.capacity);
  /** Slots in use: tasks that are not forgotten. */
  count = 0;

  private readonly index = new SlotIndex(this.capacity);
  /** Head of the list of slots that were in use before, linked by `next`. */
  private freed: Slot = NO_SLOT;
  /** Slots from here on were never in use. */
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
   * Takes the slot that `nextFree` names. Columns that a submit does not set are made as if never
   * used; the others keep what was there until `apply` sets them.
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
    // Rarely in use: what was never written costs no memory, so nothing is written in vain.
    if (this.retriedAt[slot] !== 0) this.retriedAt[slot] = 0;
    if (this.isDiscarded[slot] !== 0) this.isDiscarded[slot] = 0;
    if (this.endKey[slot] !== 0) this.endKey[slot] = 0;
    if (this.cancelAskedAt[slot] !== 0) this.cancelAskedAt[slot] = 0;
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

  /** Whether `lease` is the one that the task in this slot has, or had last. */
  hasLease(slot: Slot, lease: LeaseNumber): boolean {
    return slot < this.capacity && this.number[slot] !== 0 && this.lease[slot] === lease;
  }

  holderOf(slot: Slot): HolderIndex {
    return this.holder[slot] as HolderIndex;
  }

  /**
   * Slots are kept as they are, free ones too: events name them, and the next event has to find
   * the same one free. The payloads themselves are another part.
   */
  persist(archive: Archive): void {
    this.count = archive.number('count', this.count);
    this.freed = archive.number('freed', this.freed) as Slot;
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('tasksMax', this.capacity);
    const references = new Set<unknown>(payloadColumns(this).map((each) => each.references));
    for (const [name, column] of columnsOf(this)) {
      if (!references.has(column)) archive.column(name, column, this.fresh);
    }
    if (!archive.isLoading) return;
    for (let slot = 0; slot < this.fresh; slot++) {
      const number = this.number[slot];
      if (number !== 0) this.index.add(slot as Slot, hashNumber(number));
    }
  }
}
