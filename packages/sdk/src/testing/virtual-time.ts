import type { Cancel, TimePort } from '../base/ports.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Time that the test controls. */
export class VirtualTime implements TimePort {
  private time = 0;
  /** In the order in which they were started. */
  private readonly timers = new Set<Timer>();

  now(): number {
    return this.time;
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.time + delayMs, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  atEndOfTurn(run: () => void): void {
    this.startTimer(0, run);
  }

  get pending(): number {
    return this.timers.size;
  }

  /** Lets time pass, and fires every timer when it is due. */
  advance(ms: number): void {
    const until = this.time + ms;
    while (this.fireNext(until));
    this.time = until;
  }

  /** Fires the earliest timer up to `until`. Returns false when there is none. */
  fireNext(until = Number.POSITIVE_INFINITY): boolean {
    let next: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    }
    if (next === undefined) return false;
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.run();
    return true;
  }
}
