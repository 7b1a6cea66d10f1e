/** Something that will happen at a given time. */
export interface Happening {
  readonly at: number;
  /** Orders happenings of the same time. */
  readonly tie: number;
  /** Orders happenings with the same tie: the one that was planned first wins. */
  readonly sequence: number;
  readonly run: () => void;
  /** A cancelled happening stays in the heap and is skipped. */
  isOff: boolean;
}

/** Planned happenings, earliest first. */
export class EventHeap {
  private readonly items: Happening[] = [];

  get size(): number {
    return this.items.length;
  }

  push(item: Happening): void {
    const { items } = this;
    let place = items.length;
    items.push(item);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(item, items[parent])) break;
      items[place] = items[parent];
      place = parent;
    }
    items[place] = item;
  }

  /** The first happening that is not cancelled and not later than `until`. */
  popUntil(until: number): Happening | undefined {
    const { items } = this;
    while (items.length > 0) {
      if (!items[0].isOff && items[0].at > until) return undefined;
      const first = this.pop();
      if (first?.isOff === false) return first;
    }
    return undefined;
  }

  private pop(): Happening | undefined {
    const { items } = this;
    const first = items.at(0);
    const last = items.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child += 1;
      if (!isBefore(items[child], last)) break;
      items[place] = items[child];
      place = child;
    }
    items[place] = last;
    return first;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  if (a.at !== b.at) return a.at < b.at;
  if (a.tie !== b.tie) return a.tie < b.tie;
  return a.sequence < b.sequence;
}
