import type { StateHasher } from '../snapshot/state-hash.ts';
import type { Archive } from '../structures/archive.ts';
import { uint32s } from '../structures/column-memory.ts';
import type { Column } from '../structures/columns.ts';

const INITIAL_SLOTS = 1024;

/** A set of slots of one table, in the order in which they were first noted. */
export class TouchedSlots {
  private count = 0;
  private slots = new Int32Array(INITIAL_SLOTS);
  /** One bit per slot: whether it is noted. Untouched pages cost nothing, as with columns. */
  private readonly noted: Uint32Array;
  /** Viewed as words or bytes, because code that reads six kinds of columns is slow. */
  private readonly columns: ReadonlyArray<{
    readonly memory: Uint32Array | Uint8Array;
    readonly perSlot: number;
  }>;

  constructor(capacity: number, columns: readonly Column[]) {
    this.noted = uint32s(Math.ceil(capacity / 32));
    this.columns = columns.map(({ buffer, BYTES_PER_ELEMENT }) => {
      const memory = BYTES_PER_ELEMENT < 4 ? new Uint8Array(buffer) : new Uint32Array(buffer);
      return { memory, perSlot: memory.length / capacity };
    });
  }

  note(slot: number): void {
    const bit = 1 << (slot & 31);
    if ((this.noted[slot >>> 5] & bit) !== 0) return;
    this.noted[slot >>> 5] |= bit;
    if (this.count === this.slots.length) this.grow();
    this.slots[this.count++] = slot;
  }

  clear(): void {
    for (let i = 0; i < this.count; i++) this.noted[this.slots[i] >>> 5] = 0;
    this.count = 0;
  }

  hash(hasher: StateHasher): void {
    const slots = this.slots.subarray(0, this.count);
    hasher.word(slots.length);
    for (let i = 0; i < slots.length; i++) hasher.word(slots[i]);
    for (const { memory, perSlot } of this.columns) hasher.entries(memory, perSlot, slots);
  }

  persist(archive: Archive, name: string): void {
    const slots = archive.numbers(name, [...this.slots.subarray(0, this.count)]);
    if (archive.isLoading) for (const slot of slots) this.note(slot);
  }

  private grow(): void {
    const larger = new Int32Array(this.slots.length * 2);
    larger.set(this.slots);
    this.slots = larger;
  }
}
