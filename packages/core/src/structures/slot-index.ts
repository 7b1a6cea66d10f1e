import { NO_SLOT, type Slot } from '../base/ids.ts';
import { int32s, uint32s } from './column-memory.ts';

/**
 * Finds slots by a hash of 32 bits: linear hashing with chains through a column.
 *
 * The table grows and shrinks by one bucket per insert or removal. So no operation has to rehash
 * everything, and memory follows the number of entries (docs/decisions/0002).
 *
 * slot-index.own-bucket: A slot is in the chain of exactly the bucket that `bucketOf` names for its
 *   hash.
 */
const BUCKETS_MIN = 16;

export class SlotIndex {
  private readonly heads: Int32Array;
  private readonly nextInChain: Int32Array;
  private readonly hashes: Uint32Array;
  private buckets = BUCKETS_MIN;
  /** The largest power of two that is at most `buckets`. */
  private roundBuckets = BUCKETS_MIN;
  private count = 0;

  constructor(capacity: number) {
    this.heads = int32s(Math.max(capacity, BUCKETS_MIN) + 1);
    this.heads.fill(NO_SLOT, 0, BUCKETS_MIN);
    this.nextInChain = int32s(capacity);
    this.hashes = uint32s(capacity);
  }

  /** The first slot with this hash; others may follow. */
  first(hash: number): Slot {
    return this.withHash(this.heads[this.bucketOf(hash)], hash);
  }

  /** The next slot with the same hash as `slot`. */
  following(slot: Slot): Slot {
    return this.withHash(this.nextInChain[slot], this.hashes[slot]);
  }

  add(slot: Slot, hash: number): void {
    this.hashes[slot] = hash;
    this.link(slot);
    this.count += 1;
    if (this.count > this.buckets) this.split();
  }

  remove(slot: Slot): void {
    const bucket = this.bucketOf(this.hashes[slot]);
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

  private withHash(from: number, hash: number): Slot {
    let slot = from;
    while (slot !== NO_SLOT && this.hashes[slot] !== hash) slot = this.nextInChain[slot];
    return slot as Slot;
  }

  /** Moves the entries of the new bucket out of the one bucket that held them so far. */
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
    const bucket = this.bucketOf(this.hashes[slot]);
    this.nextInChain[slot] = this.heads[bucket];
    this.heads[bucket] = slot;
  }

  private bucketOf(hash: number): number {
    // The mask may set the sign bit, but bucket numbers are unsigned.
    const bucket = (hash & (this.roundBuckets * 2 - 1)) >>> 0;
    return bucket < this.buckets ? bucket : (hash & (this.roundBuckets - 1)) >>> 0;
  }
}

/**
 * A hash of a number below 2^53. Every bit of the number affects the low bits; otherwise numbers
 * that survive in strides would share chains.
 */
export function hashNumber(number: number): number {
  let hash = Math.imul((number | 0) ^ Math.imul((number / 2 ** 32) | 0, 0x85ebca6b), 0x9e3779b1);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
