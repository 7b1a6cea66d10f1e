/** Time over which rates are computed. */
const WINDOW_MS = 10_000;

/** Tasks that entered and left a queue in one time window, and in the one before. */
interface Flow {
  window: number;
  submitted: number;
  ended: number;
  submittedBefore: number;
  endedBefore: number;
}

/**
 * How many tasks enter and leave each queue. Two windows are enough: the older one counts by the
 * share that is still within the last ten seconds.
 */
export class QueueRates {
  private readonly flows: Flow[] = [];
  private readonly clock: () => number;

  /** `clock` is monotonic. */
  constructor(clock: () => number) {
    this.clock = clock;
  }

  submitted(queue: number): void {
    this.flow(queue).submitted += 1;
  }

  ended(queue: number): void {
    this.flow(queue).ended += 1;
  }

  perSecond(queue: number): { readonly inPerSec: number; readonly outPerSec: number } {
    const { submitted, ended, submittedBefore, endedBefore } = this.flow(queue);
    const rest = 1 - (this.clock() % WINDOW_MS) / WINDOW_MS;
    const rate = (now: number, before: number) => ((now + before * rest) * 1000) / WINDOW_MS;
    return {
      inPerSec: rounded(rate(submitted, submittedBefore)),
      outPerSec: rounded(rate(ended, endedBefore)),
    };
  }

  private flow(queue: number): Flow {
    const window = Math.floor(this.clock() / WINDOW_MS);
    this.flows[queue] ??= { window, submitted: 0, ended: 0, submittedBefore: 0, endedBefore: 0 };
    const flow = this.flows[queue];
    if (flow.window !== window) {
      const isNext = flow.window === window - 1;
      flow.submittedBefore = isNext ? flow.submitted : 0;
      flow.endedBefore = isNext ? flow.ended : 0;
      flow.submitted = 0;
      flow.ended = 0;
      flow.window = window;
    }
    return flow;
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
