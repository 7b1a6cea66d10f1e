import type { Mode } from '../plan/mode.ts';

/**
 * Seeds that found bugs in the product. A change to the simulator makes a seed draw another world,
 * so each bug also has a test beside the code. The seeds are kept because they are cheap and lead
 * to places that were wrong once.
 */
export const REGRESSIONS: readonly {
  readonly seed: number;
  readonly mode: Mode;
  readonly what: string;
  /** The world has runs of workflows. */
  readonly runs?: true;
}[] = [
  { seed: 16, mode: 'safety', what: 'a resume that arrived late made an attempt run twice' },
  { seed: 5, mode: 'safety', what: 'a resume that arrived late, after a restart of the server' },
  { seed: 29, mode: 'safety', what: 'a power cut after a write error cut off durable records' },
  { seed: 13, mode: 'liveness', what: 'time stood still after a restart with a clock set back' },
  { seed: 12, mode: 'liveness', what: 'a worker with a small bound of unread bytes got no more' },
  { seed: 4, mode: 'liveness', what: 'timers slept on when the clock was set forward' },
  { seed: 1, mode: 'safety', what: 'a clock that was set forward made all workers silent' },
  { seed: 2656, mode: 'safety', what: 'a timer slept on when the clock was set before it was due' },
  { seed: 924, mode: 'safety', what: 'a call of the SDK was called refused, and it was stored' },
  { seed: 46019, mode: 'liveness', what: 'a full disk that failed then was called full for ever' },
  { seed: 17, mode: 'safety', runs: true, what: 'a cancelled run retried a task that timed out' },
];
