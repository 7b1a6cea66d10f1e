import { NO_SLOT } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import { LimitError } from '../base/limit-error.ts';
import type { Archive } from './archive.ts';
import { int32s, uint8s } from './column-memory.ts';
import { ColumnTable, columnsOf } from './columns.ts';

/** The largest block has 2^16 slots. */
const ORDERS = 17;

/** Memory that was never used is taken in blocks of at least this order. */
const GROWTH_ORDER = 10;

/**
 * Gives out blocks of contiguous slots, each with a power of two as its size and aligned to it.
 *
 * Two neighbours of the same size that came from one larger block are buddies. A block that is
 * given back joins its free buddy, again and again, so that no mix of sizes wears the memory down.
 * Blocks at the end that were never used cost nothing.
 *
 * blocks.own-slots: No two blocks that are in use share a slot.
 */
export class BuddyBlocks extends ColumnTable {
  /** Order of the free block that begins here plus one; 0 for all other slots. */
  private readonly freeOrder = uint8s(this.capacity);
  /** Links in the list of free blocks of one order; meaningless for other slots. */
  private readonly nextFree = int32s(this.capacity);
  private readonly previousFree = int32s(this.capacity);
  private readonly heads = new Array<number>(ORDERS).fill(NO_SLOT);
  private fresh = 0;
  private high = 0;
  /** Slots in blocks that are in use. */
  inUse = 0;

  /** Slots from here on were never in use. */
  get used(): number {
    return this.high;
  }

  /** The smallest block that holds this many slots. */
  static sizeFor(slots: number): number {
    return 2 ** orderOf(slots);
  }

  /** Whether `take` would find a block. */
  hasRoomFor(slots: number): boolean {
    return this.find(orderOf(slots)) !== NO_SLOT;
  }

  /** Whether blocks of all these sizes fit, one after the other. May say no when they just fit. */
  hasRoomForAll(sizes: readonly number[]): boolean {
    if (sizes.length === 1) return this.hasRoomFor(sizes[0]);
    const blocks = sizes.map(BuddyBlocks.sizeFor);
    const total = blocks.reduce((sum, size) => sum + size, 0);
    // Memory that was never used has no gaps. Twice the largest is lost to alignment at most.
    return total + 2 * Math.max(0, ...blocks) <= this.capacity - this.fresh;
  }

  /** The first slot of the block that the next `take` of this size returns. */
  next(slots: number): number {
    const found = this.find(orderOf(slots));
    if (found === NO_SLOT) throw new LimitError('tasksMax', this.capacity);
    return found;
  }

  take(slots: number): number {
    const order = orderOf(slots);
    const block = this.next(slots);
    while (block >= this.fresh) this.grow(order);
    const from = this.freeOrder[block] - 1;
    this.unlink(block);
    for (let each = from - 1; each >= order; each--) this.link(block + 2 ** each, each);
    this.inUse += 2 ** order;
    this.high = Math.max(this.high, block + 2 ** order);
    return block;
  }

  giveBack(block: number, slots: number): void {
    const order = orderOf(slots);
    invariant(this.freeOrder[block] === 0, 'a block is given back once');
    this.inUse -= 2 ** order;
    this.join(block, order);
  }

  persist(archive: Archive): void {
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('tasksMax', this.capacity);
    this.high = archive.number('high', this.high);
    this.inUse = archive.number('inUse', this.inUse);
    archive.numbers('heads', this.heads).forEach((head, order) => {
      this.heads[order] = head;
    });
    for (const [name, column] of columnsOf(this)) archive.column(name, column, this.fresh);
  }

  private find(order: number): number {
    for (let each = order; each < ORDERS; each++) {
      if (this.heads[each] !== NO_SLOT) return this.heads[each];
    }
    const start = aligned(this.fresh, order);
    return start + 2 ** order <= this.capacity ? start : NO_SLOT;
  }

  /**
   * Adds the next piece of memory: as large as is asked for where the alignment allows it. It joins
   * no buddy yet, so that the block which `next` named begins where it said.
   */
  private grow(order: number): void {
    const asked = Math.max(order, GROWTH_ORDER);
    let size = Math.min(asked, this.fresh === 0 ? ORDERS - 1 : trailingZeros(this.fresh));
    while (this.fresh + 2 ** size > this.capacity) size -= 1;
    const start = this.fresh;
    this.fresh += 2 ** size;
    this.link(start, size);
  }

  /** Makes the block free, together with its buddies that are free. */
  private join(block: number, order: number): void {
    let start = block;
    let size = order;
    while (size < ORDERS - 1) {
      const buddy = start ^ (2 ** size);
      if (buddy >= this.fresh || this.freeOrder[buddy] !== size + 1) break;
      this.unlink(buddy);
      start = Math.min(start, buddy);
      size += 1;
    }
    this.link(start, size);
  }

  private link(block: number, order: number): void {
    const head = this.heads[order];
    this.freeOrder[block] = order + 1;
    this.nextFree[block] = head;
    this.previousFree[block] = NO_SLOT;
    if (head !== NO_SLOT) this.previousFree[head] = block;
    this.heads[order] = block;
  }

  private unlink(block: number): void {
    const order = this.freeOrder[block] - 1;
    const after = this.nextFree[block];
    const before = this.previousFree[block];
    if (before === NO_SLOT) this.heads[order] = after;
    else this.nextFree[before] = after;
    if (after !== NO_SLOT) this.previousFree[after] = before;
    this.freeOrder[block] = 0;
  }
}

function orderOf(slots: number): number {
  const order = slots <= 1 ? 0 : 32 - Math.clz32(slots - 1);
  invariant(order < ORDERS, 'a block has at most 65,536 slots');
  return order;
}

function trailingZeros(slot: number): number {
  return 31 - Math.clz32(slot & -slot);
}

function aligned(slot: number, order: number): number {
  const size = 2 ** order;
  return Math.ceil(slot / size) * size;
}
