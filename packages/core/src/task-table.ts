import { type HolderIndex, type LeaseNumber, NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import { invariant } from './invariant.ts';
import { hashNumber, SlotIndex } from './slot-index.ts';

/** A column that may be read and not written. */
interface ReadonlyColumn {
  readonly [slot: number]: number;
  readonly length: number;
}

/** What everybody but `apply` sees of the tasks. One entry of each column per slot. */
export interface TaskReader {
  readonly capacity: number;
  /** Slots in use: tasks that are not forgotten. */
  readonly count: number;
  /** 0 while the slot is free. */
  readonly number: ReadonlyColumn;
  readonly submittedAt: ReadonlyColumn;
  readonly state: ReadonlyColumn;
  readonly reason: ReadonlyColumn;
  readonly priority: ReadonlyColumn;
  /** Index of the task's queue, which knows its type. */
  readonly queue: ReadonlyColumn;
  /** Attempts so far; 0 before the first lease. */
  readonly attempt: ReadonlyColumn;
  /** The current lease, or the last one; 0 before the first. */
  readonly lease: ReadonlyColumn;
  /** The holder of the current lease, or of the last one; meaningless before the first. */
  readonly holder: ReadonlyColumn;
  /** The report that ended the last lease, so that the same one again is known. */
  readonly answered: ReadonlyColumn;
  /**
   * Entry of the task's dedupe key plus one; 0 without a key. The entry may be another's by now.
   */
  readonly dedupe: ReadonlyColumn;
  /** Place of the retry policy among those of the state. */
  readonly retry: ReadonlyColumn;
  /** When its timer is due, while a task waits; since when it is queued, while it is. */
  readonly dueAt: ReadonlyColumn;
  /** 0 until it happened; of the current attempt, or of the last one. */
  readonly leasedAt: ReadonlyColumn;
  readonly startedAt: ReadonlyColumn;
  /** When the last attempt ended, and a finished task with it; 0 while one is under way. */
  readonly endedAt: ReadonlyColumn;
  /** Arena reference and length of the input; `NO_PAYLOAD` and 0 when it is null. */
  readonly input: ReadonlyColumn;
  readonly inputLength: ReadonlyColumn;
  /** Likewise the output of a succeeded task or the error of a failed one. */
  readonly result: ReadonlyColumn;
  readonly resultLength: ReadonlyColumn;
  /** Neighbours in the one list that holds the task: its queue's level, or the finished tasks. */
  readonly next: ReadonlyColumn;
  readonly previous: ReadonlyColumn;

  find(number: TaskNumber): Slot;
  /** The slot that the next `allocate` will take; `NO_SLOT` when the table is full. */
  nextFree(): Slot;
  /** Whether `lease` is the one that the task in this slot has, or had last. */
  hasLease(slot: Slot, lease: LeaseNumber): boolean;
  holderOf(slot: Slot): HolderIndex;
}

/**
 * Tasks in columns: one typed array per field, indexed by slot (docs/decisions/0002).
 *
 * All columns have their full length from the start. The kernel gives memory to the pages that are
 * touched, so an empty table costs nothing, nothing is ever copied to grow, and the bound on tasks
 * (L9) is the length itself. Free slots are used again last in, first out, before fresh ones.
 */
export class TaskTable implements TaskReader {
  readonly capacity: number;
  readonly number: Float64Array;
  readonly submittedAt: Float64Array;
  readonly state: Uint8Array;
  readonly reason: Uint8Array;
  readonly priority: Uint8Array;
  readonly queue: Uint16Array;
  readonly attempt: Uint16Array;
  readonly lease: Float64Array;
  readonly holder: Int32Array;
  readonly answered: Uint8Array;
  readonly dedupe: Uint32Array;
  readonly retry: Uint32Array;
  readonly dueAt: Float64Array;
  readonly leasedAt: Float64Array;
  readonly startedAt: Float64Array;
  readonly endedAt: Float64Array;
  readonly input: Float64Array;
  readonly inputLength: Uint32Array;
  readonly result: Float64Array;
  readonly resultLength: Uint32Array;
  readonly next: Int32Array;
  readonly previous: Int32Array;
  /** Neighbours in the list of what the holder of the lease holds. */
  readonly nextHeld: Int32Array;
  readonly previousHeld: Int32Array;
  count = 0;

  private readonly index: SlotIndex;
  /** Head of the list of slots that were in use before, linked by `next`. */
  private freed: Slot = NO_SLOT;
  /** Slots from here on were never in use. */
  private fresh = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.number = new Float64Array(capacity);
    this.submittedAt = new Float64Array(capacity);
    this.state = new Uint8Array(capacity);
    this.reason = new Uint8Array(capacity);
    this.priority = new Uint8Array(capacity);
    this.queue = new Uint16Array(capacity);
    this.attempt = new Uint16Array(capacity);
    this.lease = new Float64Array(capacity);
    this.holder = new Int32Array(capacity);
    this.answered = new Uint8Array(capacity);
    this.dedupe = new Uint32Array(capacity);
    this.retry = new Uint32Array(capacity);
    this.dueAt = new Float64Array(capacity);
    this.leasedAt = new Float64Array(capacity);
    this.startedAt = new Float64Array(capacity);
    this.endedAt = new Float64Array(capacity);
    this.input = new Float64Array(capacity);
    this.inputLength = new Uint32Array(capacity);
    this.result = new Float64Array(capacity);
    this.resultLength = new Uint32Array(capacity);
    this.next = new Int32Array(capacity);
    this.previous = new Int32Array(capacity);
    this.nextHeld = new Int32Array(capacity);
    this.previousHeld = new Int32Array(capacity);
    this.index = new SlotIndex(capacity);
  }

  find(number: TaskNumber): Slot {
    let slot = this.index.first(hashNumber(number));
    while (slot !== NO_SLOT && this.number[slot] !== number) slot = this.index.following(slot);
    return slot;
  }

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
    invariant(slot !== NO_SLOT, 'a task is submitted only while a slot is free');
    if (slot === this.freed) this.freed = this.next[slot] as Slot;
    else this.fresh += 1;

    this.number[slot] = number;
    this.attempt[slot] = 0;
    this.lease[slot] = 0;
    this.answered[slot] = 0;
    this.leasedAt[slot] = 0;
    this.startedAt[slot] = 0;
    this.endedAt[slot] = 0;
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

  hasLease(slot: Slot, lease: LeaseNumber): boolean {
    return slot < this.capacity && this.number[slot] !== 0 && this.lease[slot] === lease;
  }

  holderOf(slot: Slot): HolderIndex {
    return this.holder[slot] as HolderIndex;
  }
}
