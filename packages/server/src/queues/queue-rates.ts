/** Rates are over so long. */
const WINDOW_MS = 10_000;

/** What a queue took and gave in one window of time, and in the one before. */
interface Flow {
  window: number;
  submitted: number;
  ended: number;
  submittedBefore: number;
  endedBefore: number;
}

/**
 * How many tasks go into each queue and come out of it. Two windows are enough: of the older one
 * that part counts which the last ten seconds still cover.
 */
export class QueueRates {
  private readonly flows: Flow[] = [];
  private readonly clock: () => number;

  /** The clock only ever runs forward. */
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
