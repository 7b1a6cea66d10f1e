import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Archive } from './archive.ts';

/** The two link columns that a list uses. */
export interface ListLinks {
  readonly next: Int32Array;
  readonly previous: Int32Array;
}

/**
 * A list of slots, linked through columns: no object per element, O(1) at both ends and in the
 * middle.
 */
export class TaskList {
  head: Slot = NO_SLOT;
  tail: Slot = NO_SLOT;
  length = 0;
  private readonly links: ListLinks;

  constructor(links: ListLinks) {
    this.links = links;
  }

  append(slot: Slot): void {
    this.links.next[slot] = NO_SLOT;
    this.links.previous[slot] = this.tail;
    if (this.tail === NO_SLOT) this.head = slot;
    else this.links.next[this.tail] = slot;
    this.tail = slot;
    this.length += 1;
  }

  prepend(slot: Slot): void {
    this.links.previous[slot] = NO_SLOT;
    this.links.next[slot] = this.head;
    if (this.head === NO_SLOT) this.tail = slot;
    else this.links.previous[this.head] = slot;
    this.head = slot;
    this.length += 1;
  }

  remove(slot: Slot): void {
    const before = this.links.previous[slot] as Slot;
    const after = this.links.next[slot] as Slot;
    if (before === NO_SLOT) this.head = after;
    else this.links.next[before] = after;
    if (after === NO_SLOT) this.tail = before;
    else this.links.previous[after] = before;
    this.length -= 1;
  }

  /** Forgets the elements. The caller may read or overwrite their links. */
  clear(): void {
    this.head = NO_SLOT;
    this.tail = NO_SLOT;
    this.length = 0;
  }
}

/** Persists the ends of lists; the links between them are in the columns. */
export function persistLists(archive: Archive, name: string, lists: readonly TaskList[]): void {
  const ends = archive.numbers(
    name,
    lists.flatMap(({ head, tail, length }) => [head, tail, length]),
  );
  lists.forEach((list, index) => {
    list.head = ends[index * 3] as Slot;
    list.tail = ends[index * 3 + 1] as Slot;
    list.length = ends[index * 3 + 2];
  });
}
