interface Timed {
  readonly number: number;
  readonly nextAt: number;
}

/** A heap of timed items, earliest first; of two with the same time, the older one. */
export class DueHeap<T extends Timed> {
  private readonly heap: T[] = [];

  get nextAt(): number {
    return this.heap.length === 0 ? Number.POSITIVE_INFINITY : this.heap[0].nextAt;
  }

  add(timed: T): void {
    const { heap } = this;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timed, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = timed;
  }

  /** Removes and returns the first item that is due, if any. */
  take(now: number): T | undefined {
    if (this.nextAt > now) return undefined;
    const [first] = this.heap;
    const last = this.heap.pop() as T;
    if (this.heap.length > 0) this.sink(last);
    return first;
  }

  private sink(timed: T): void {
    const { heap } = this;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < heap.length && isBefore(heap[right], heap[child])) child = right;
      if (!isBefore(heap[child], timed)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = timed;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.nextAt < b.nextAt || (a.nextAt === b.nextAt && a.number < b.number);
}
