import { NO_SLOT, type Slot, type TaskNumber } from './ids.ts';

/**
 * Finds the slot of a task by its number: linear hashing with chains through a column.
 *
 * The table grows and shrinks by one bucket per insert or removal, so that no task ever pays for a
 * rehash of all others, and memory follows the number of tasks (docs/decisions/0002).
 *
 * I1 A number stands in the chain of exactly the bucket that `bucketOf` names for it.
 */
const BUCKETS_MIN = 16;

export class TaskIndex {
  private readonly heads: Int32Array;
  private readonly nextInChain: Int32Array;
  private readonly numbers: Float64Array;
  private buckets = BUCKETS_MIN;
  /** The largest power of two that is not over `buckets`. */
  private roundBuckets = BUCKETS_MIN;
  private count = 0;

  /** `numbers` is the task table's column; a slot's number must stand there before `add`. */
  constructor(capacity: number, numbers: Float64Array) {
    this.heads = new Int32Array(Math.max(capacity, BUCKETS_MIN) + 1);
    this.heads.fill(NO_SLOT, 0, BUCKETS_MIN);
    this.nextInChain = new Int32Array(capacity);
    this.numbers = numbers;
  }

  find(number: TaskNumber): Slot {
    let slot = this.heads[this.bucketOf(number)];
    while (slot !== NO_SLOT && this.numbers[slot] !== number) slot = this.nextInChain[slot];
    return slot as Slot;
  }

  add(slot: Slot): void {
    this.link(slot);
    this.count += 1;
    if (this.count > this.buckets) this.split();
  }

  remove(slot: Slot): void {
    const bucket = this.bucketOf(this.numbers[slot]);
    let before: number = NO_SLOT;
    let at = this.heads[bucket];
    while (at !== slot) {
      before = at;
      at = this.nextInChain[at];
    }
    if (before === NO_SLOT) this.heads[bucket] = this.nextInChain[slot];
    else this.nextInChain[before] = this.nextInChain[slot];

    this.count -= 1;
    if (this.buckets > BUCKETS_MIN && this.count < this.buckets / 2) this.merge();
  }

  /** Moves what belongs to the bucket that is opened out of the one bucket that held it so far. */
  private split(): void {
    const from = this.buckets - this.roundBuckets;
    this.heads[this.buckets] = NO_SLOT;
    this.buckets += 1;
    if (this.buckets === this.roundBuckets * 2) this.roundBuckets = this.buckets;

    const chain = this.heads[from];
    this.heads[from] = NO_SLOT;
    this.relink(chain);
  }

  private merge(): void {
    if (this.buckets === this.roundBuckets) this.roundBuckets /= 2;
    this.buckets -= 1;
    this.relink(this.heads[this.buckets]);
  }

  private relink(chain: number): void {
    let slot = chain;
    while (slot !== NO_SLOT) {
      const following = this.nextInChain[slot];
      this.link(slot);
      slot = following;
    }
  }

  private link(slot: number): void {
    const bucket = this.bucketOf(this.numbers[slot]);
    this.nextInChain[slot] = this.heads[bucket];
    this.heads[bucket] = slot;
  }

  private bucketOf(number: number): number {
    const hash = mix(number);
    const bucket = hash & (this.roundBuckets * 2 - 1);
    return bucket < this.buckets ? bucket : hash & (this.roundBuckets - 1);
  }
}

/**
 * Every bit of the number reaches the low bits, or tasks that survive in strides would share
 * chains.
 */
function mix(number: number): number {
  let hash = Math.imul((number | 0) ^ Math.imul((number / 2 ** 32) | 0, 0x85ebca6b), 0x9e3779b1);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
