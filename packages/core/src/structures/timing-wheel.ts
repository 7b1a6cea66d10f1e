import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Archive } from './archive.ts';
import { int16s, int32s } from './column-memory.ts';
import { TaskList } from './task-list.ts';

/**
 * One timer per task, in eight wheels of 64 buckets: the first counts milliseconds, each of the
 * others counts turns of the one before. A timer is on the wheel where its time first differs from
 * the current time, and moves down as its time approaches, at most seven times.
 *
 * Which timers exist is part of the state: only `apply` adds and removes. Their arrangement is not:
 * it depends on when `firstDue` was called, and no result depends on it.
 *
 * timers.never-early: A timer is never due before its time.
 * - Due timers come in the order of time; those of one millisecond in the order of `order`, or
 *   of their slots. So a restored state fires in the same order as the one that was saved (L3).
 */
const WHEELS = 8;
const BITS = 6;
const BUCKETS = 1 << BITS;

/** Times are split into two halves that fit into bit operations, four wheels each. */
const HALF_BITS = 4 * BITS;
const HALF = 2 ** HALF_BITS;

/** The range of the wheels: some nine thousand years. */
const TIME_MAX = 2 ** (WHEELS * BITS) - 1;

const NO_BUCKET = -1;

/** `earliest` searches a bucket only if it has at most this many timers. */
const LOOKS_MAX = 8;

export interface TimerColumns {
  /** When the timer of each slot is due, in milliseconds. */
  readonly dueAt: Float64Array;
  /** Decides between timers of the same millisecond. Without it, the slot does. */
  readonly order?: Float64Array;
}

export class TimingWheel {
  private readonly columns: TimerColumns;
  private readonly next: Int32Array;
  /** Bucket of each slot plus one; 0 without a timer, as in memory that was never used. */
  private readonly bucketOf: Int16Array;
  private readonly buckets: TaskList[];
  /** Bit n of entries 2w and 2w + 1: bucket n of wheel w has timers. */
  private readonly occupied = new Int32Array(WHEELS * 2);
  /** All timers before this time have been returned. */
  private elapsed = 0;
  /** The bucket of due timers that is sorted. */
  private sortedBucket = NO_BUCKET;
  count = 0;

  constructor(capacity: number, columns: TimerColumns) {
    this.columns = columns;
    this.next = int32s(capacity);
    this.bucketOf = int16s(capacity);
    const links = { next: this.next, previous: int32s(capacity) };
    this.buckets = Array.from({ length: WHEELS * BUCKETS }, () => new TaskList(links));
  }

  has(slot: Slot): boolean {
    return this.bucketOf[slot] !== 0;
  }

  /** Starts the timer of `slot`, which has none, for the time in its column. */
  add(slot: Slot): void {
    this.place(slot);
    this.count += 1;
  }

  remove(slot: Slot): void {
    const bucket = this.bucketOf[slot] - 1;
    this.buckets[bucket].remove(slot);
    if (this.buckets[bucket].length === 0) this.mark(bucket, false);
    this.bucketOf[slot] = 0;
    this.count -= 1;
  }

  /** The first timer that is due by `now`, if any. It stays until it is removed. */
  firstDue(now: number): Slot {
    for (;;) {
      const bucket = this.firstBucket();
      if (bucket === NO_BUCKET) {
        this.elapsed = Math.max(this.elapsed, now);
        return NO_SLOT;
      }
      const startsAt = this.startOf(bucket);
      if (startsAt > now) return NO_SLOT;
      this.elapsed = Math.max(this.elapsed, startsAt);
      if (bucket < BUCKETS) return this.headInOrder(bucket);
      this.moveDown(bucket);
    }
  }

  /**
   * No timer is due before this time; infinite when there is none. With few timers it is exact,
   * which avoids needless wake-ups. With many, the first timer may be due later.
   */
  earliest(): number {
    const bucket = this.firstBucket();
    if (bucket === NO_BUCKET) return Number.POSITIVE_INFINITY;
    const startsAt = this.startOf(bucket);
    const list = this.buckets[bucket];
    if (bucket < BUCKETS || list.length > LOOKS_MAX) return startsAt;
    let dueAt = TIME_MAX;
    for (let slot = list.head; slot !== NO_SLOT; slot = this.next[slot] as Slot) {
      dueAt = Math.min(dueAt, this.columns.dueAt[slot]);
    }
    return Math.max(dueAt, startsAt);
  }

  /** Persists which of the first `used` slots have a timer. Loading rebuilds the wheels. */
  persist(archive: Archive, used: number): void {
    const members = new Uint8Array(used);
    for (let slot = 0; slot < used; slot++) members[slot] = this.has(slot as Slot) ? 1 : 0;
    archive.column('members', members, used);
    if (!archive.isLoading) return;
    for (let slot = 0; slot < used; slot++) if (members[slot] !== 0) this.add(slot as Slot);
  }

  private place(slot: Slot): void {
    // Overdue timers go to the current time, and times beyond the wheels to their last moment.
    const dueAt = Math.min(Math.max(this.columns.dueAt[slot], this.elapsed), TIME_MAX);
    const wheel = wheelOf(this.elapsed, dueAt);
    const bucket = wheel * BUCKETS + digit(dueAt, wheel);
    if (bucket === this.sortedBucket) this.sortedBucket = NO_BUCKET;
    this.buckets[bucket].append(slot);
    this.bucketOf[slot] = bucket + 1;
    this.mark(bucket, true);
  }

  /** Lower wheels come first: all their timers are due before the next bucket of a higher wheel. */
  private firstBucket(): number {
    for (let wheel = 0; wheel < WHEELS; wheel++) {
      const low = this.occupied[wheel * 2];
      if (low !== 0) return wheel * BUCKETS + lowestBit(low);
      const high = this.occupied[wheel * 2 + 1];
      if (high !== 0) return wheel * BUCKETS + 32 + lowestBit(high);
    }
    return NO_BUCKET;
  }

  /** The first time of the bucket. Digits above its wheel are those of the current time. */
  private startOf(bucket: number): number {
    const wheel = bucket >>> BITS;
    const width = 2 ** (wheel * BITS);
    const turn = width * BUCKETS;
    return Math.floor(this.elapsed / turn) * turn + (bucket & (BUCKETS - 1)) * width;
  }

  private moveDown(bucket: number): void {
    const list = this.buckets[bucket];
    this.mark(bucket, false);
    let slot = list.head;
    list.clear();
    while (slot !== NO_SLOT) {
      const following = this.next[slot] as Slot;
      this.place(slot);
      slot = following;
    }
  }

  private headInOrder(bucket: number): Slot {
    const list = this.buckets[bucket];
    if (bucket === this.sortedBucket || list.length === 1) return list.head;
    const { dueAt, order } = this.columns;
    const slots: Slot[] = [];
    for (let slot = list.head; slot !== NO_SLOT; slot = this.next[slot] as Slot) slots.push(slot);
    slots.sort(
      (a, b) => dueAt[a] - dueAt[b] || (order === undefined ? a - b : order[a] - order[b]),
    );
    list.clear();
    for (const slot of slots) list.append(slot);
    this.sortedBucket = bucket;
    return list.head;
  }

  private mark(bucket: number, isOccupied: boolean): void {
    const word = bucket >>> 5;
    const bit = 1 << (bucket & 31);
    if (isOccupied) this.occupied[word] |= bit;
    else this.occupied[word] &= ~bit;
  }
}

/** The highest wheel whose digit differs between the two times. */
function wheelOf(from: number, to: number): number {
  const highBits = Math.floor(from / HALF) ^ Math.floor(to / HALF);
  if (highBits !== 0) return 4 + topDigit(highBits);
  const lowBits = (from % HALF) ^ (to % HALF);
  return lowBits === 0 ? 0 : topDigit(lowBits);
}

function topDigit(bits: number): number {
  return Math.floor((31 - Math.clz32(bits)) / BITS);
}

function digit(time: number, wheel: number): number {
  const half = wheel < 4 ? time % HALF : Math.floor(time / HALF);
  return (half >>> ((wheel & 3) * BITS)) & (BUCKETS - 1);
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
