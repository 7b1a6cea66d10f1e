/** A server that counts: for every message of its parent it says what it has used so far. */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

export interface Counted {
  /** Of the main thread; what was allocated, as long as nothing was collected. */
  readonly heapBytes: number;
  readonly collections: number;
  /** Calls of the operating system that write, of the main thread: those to sockets. */
  readonly writes: number;
}

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

process.on('message', () => {
  const io = readFileSync(`/proc/self/task/${process.pid}/io`, 'utf8');
  const writes = Number(/^syscw: (\d+)$/m.exec(io)?.[1]);
  const heapBytes = process.memoryUsage().heapUsed;
  process.send?.({ heapBytes, collections, writes } satisfies Counted);
});

await import('../../packages/cli/src/cli.ts');
