import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 500;

/** A thread that is busy for less than this share of the time is at rest. */
const REST_SHARE_MAX = 0.1;

/** What a collection has to promise: less is not worth its pause. */
const WORTH_BYTES = 16 * 1024 * 1024;

/** What it asks of V8. */
export interface Heap {
  /** Bytes of memory that the heap of this thread holds. */
  held(): number;
  collect(): void;
}

/**
 * Gives memory back after a burst. The young generation grows with the load, and V8 shrinks it only
 * in a collection that saves memory, which it does not make by itself while a server rests.
 */
export class MemoryReturn {
  private readonly heap: Heap;
  private readonly utilization: typeof performance.eventLoopUtilization;
  private timer: NodeJS.Timeout | undefined;
  private last: EventLoopUtilization;
  /** What was left after the last collection. */
  private kept = 0;

  constructor(heap: Heap = ownHeap(), utilization = performance.eventLoopUtilization) {
    this.heap = heap;
    this.utilization = utilization;
    this.last = utilization();
  }

  /** Looks now and then, without keeping the process alive. */
  begin(): this {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    return this;
  }

  end(): void {
    clearInterval(this.timer);
  }

  look(): void {
    const now = this.utilization();
    const { utilization: share } = this.utilization(now, this.last);
    this.last = now;
    if (share > REST_SHARE_MAX || this.heap.held() - this.kept < WORTH_BYTES) return;
    this.heap.collect();
    this.kept = this.heap.held();
  }
}

/** The flag only adds a function to contexts that are made later. */
function ownHeap(): Heap {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  return {
    held: () => getHeapStatistics().total_physical_size,
    collect: () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  };
}
