import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 500;

/** A thread that is busy for this share of the time has a burst. */
const BURST_SHARE = 0.3;

/** With less than this share it rests. */
const REST_SHARE = 0.02;

/** What a collection has to promise: less is not worth its pause. */
const WORTH_BYTES = 16 * 1024 * 1024;

/** A heap that takes longer to collect is left to V8. */
const PAUSE_MS_MAX = 100;

/** What it asks of V8. */
export interface Heap {
  /** Bytes of memory that the heap of this thread holds. */
  held(): number;
  /** Returns how many milliseconds it took. */
  collect(): number;
}

/**
 * Gives memory back after a burst. The young generation grows with the load, and V8 shrinks it only
 * in a collection that saves memory, which it does not make by itself while a server rests. There
 * is one collection after each burst, so that a server with little to do is not stopped again and
 * again.
 */
export class MemoryReturn {
  private readonly heap: Heap;
  private readonly utilization: typeof performance.eventLoopUtilization;
  private timer: NodeJS.Timeout | undefined;
  private last: EventLoopUtilization;
  private hadBurst = false;
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
    if (share >= BURST_SHARE) this.hadBurst = true;
    const rests = this.hadBurst && share < REST_SHARE;
    if (!rests || this.heap.held() - this.kept < WORTH_BYTES) return;
    if (this.heap.collect() > PAUSE_MS_MAX) this.end();
    this.kept = this.heap.held();
    this.hadBurst = false;
  }
}

/** The flag only adds a function to contexts that are made later. */
function ownHeap(): Heap {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  return {
    held: () => getHeapStatistics().total_physical_size,
    collect: () => {
      const startedAt = performance.now();
      collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      return performance.now() - startedAt;
    },
  };
}
