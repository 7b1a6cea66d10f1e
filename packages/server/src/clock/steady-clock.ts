/** A step of the wall clock that is larger than this is not believed at once. */
const BELIEVED_STEP_MS = 60_000;

/** A larger step is believed when it has lasted for so long. */
const CONFIRMATION_MS = 10_000;

/** How much slower than real time goes while the wall clock is behind. */
const SLEW = 0.1;

export interface ClockSources {
  /** Milliseconds since 1970; may be set by anybody. */
  readonly wall: () => number;
  /** Milliseconds since some moment; only ever runs forward, at its own pace. */
  readonly monotonic: () => number;
}

/**
 * The time of a partition (L8): it follows the wall clock, but never runs backwards, and one wrong
 * reading cannot fire a month of timers or freeze all others.
 *
 * A wall clock that was set back is approached slowly. One that was set forward by more than a
 * minute is followed only when it still says so ten seconds later.
 */
export class SteadyClock {
  private readonly sources: ClockSources;
  private last: number;
  private lastMonotonic: number;
  /**
   * Since when the wall clock has been far ahead, on the monotonic one; infinite when it is not.
   */
  private aheadSince = Number.POSITIVE_INFINITY;

  constructor(sources: ClockSources = { wall: Date.now, monotonic: () => performance.now() }) {
    this.sources = sources;
    this.last = sources.wall();
    this.lastMonotonic = sources.monotonic();
  }

  /**
   * The partition has seen this time before: what follows is not before it. A wall clock that was
   * set back while the server was down is approached slowly, too; time does not stand still.
   */
  notBefore(time: number): void {
    this.last = Math.max(this.now(), time);
  }

  now(): number {
    const monotonic = this.sources.monotonic();
    const passed = monotonic - this.lastMonotonic;
    const expected = this.last + passed;
    const step = this.sources.wall() - expected;
    const isFarAhead = step > BELIEVED_STEP_MS;
    if (!isFarAhead) this.aheadSince = Number.POSITIVE_INFINITY;
    else this.aheadSince = Math.min(this.aheadSince, monotonic);

    const isBelieved = !isFarAhead || monotonic - this.aheadSince >= CONFIRMATION_MS;
    const change = isBelieved ? Math.max(step, -passed * SLEW) : 0;
    this.last = expected + change;
    this.lastMonotonic = monotonic;
    return Math.floor(this.last);
  }
}
