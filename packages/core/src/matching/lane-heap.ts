import type { ReadonlyLane } from '../state/state.ts';

/**
 * A binary heap of lanes, ordered by the ranks of their heads. Many lanes may open at once, and
 * each lease changes one of them.
 */
export class LaneHeap {
  private readonly lanes: ReadonlyLane[];

  /** Takes ownership of the array. */
  constructor(lanes: ReadonlyLane[]) {
    this.lanes = lanes;
    for (let place = (lanes.length >>> 1) - 1; place >= 0; place--) this.sink(place);
  }

  /** `undefined` when there is none left. */
  get first(): ReadonlyLane | undefined {
    return this.lanes[0];
  }

  /** The head of the first lane left, so another lane may now be first. */
  update(): void {
    this.sink(0);
  }

  dropFirst(): void {
    const last = this.lanes.pop();
    if (last === undefined || this.lanes.length === 0) return;
    this.lanes[0] = last;
    this.sink(0);
  }

  private sink(start: number): void {
    const { lanes } = this;
    let place = start;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= lanes.length) return;
      const right = left + 1;
      const isRight = right < lanes.length && rankOf(lanes[right]) < rankOf(lanes[left]);
      const child = isRight ? right : left;
      if (rankOf(lanes[place]) <= rankOf(lanes[child])) return;
      [lanes[place], lanes[child]] = [lanes[child], lanes[place]];
      place = child;
    }
  }
}

/** Empty lanes come first, so that they are dropped. */
function rankOf({ queue, place }: ReadonlyLane): number {
  return place < 0 ? Number.NEGATIVE_INFINITY : queue.ranks[place];
}
