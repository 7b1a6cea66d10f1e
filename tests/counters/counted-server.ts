/** A server with counters. It answers every message of its parent with what it has used so far. */
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

export interface Counted {
  /** Heap of the main thread. While nothing is collected, it shows what was allocated. */
  readonly heapBytes: number;
  readonly collections: number;
  /** Write system calls of the main thread, which are the writes to sockets. */
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
