/** How often `beat` must be called. */
export const TICK_MS = 500;

/** A beat that is late by more than this shows that the process did not run. */
const OVERSLEPT_MS = 500;

/** After a longer standstill, a request that waited may come from a client that gave up since. */
const LONG_MS = 10_000;

/** After this time every request that waited has been read. */
const WAKING_MS = 1000;

export interface Clocks {
  /** Milliseconds that only increase; they may stop while the machine sleeps. */
  readonly monotonic: () => number;
  /** The time that commands carry. */
  readonly clock: () => number;
}

/**
 * Detects that the process did not run for a while: it was stopped or starved, the machine slept,
 * or the clock was set.
 */
export class Standstill {
  private readonly clocks: Clocks;
  /** Time on both clocks at the last beat or standstill. */
  private last: readonly [number, number];
  private isUntold = false;
  /** When a long standstill was noticed. */
  private wokeAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: Clocks) {
    this.clocks = clocks;
    this.last = this.now();
  }

  /** Must be called every `TICK_MS`; returns what `hasBeen` returns. */
  beat(): boolean {
    const hasBeen = this.hasBeen();
    this.last = this.now();
    return hasBeen;
  }

  /** Whether there was a standstill that was not reported yet. */
  hasBeen(): boolean {
    this.look();
    const { isUntold } = this;
    this.isUntold = false;
    return isUntold;
  }

  /** Whether a request that is read now may have waited through a long standstill. */
  get isWaking(): boolean {
    this.look();
    return this.clocks.monotonic() - this.wokeAt < WAKING_MS;
  }

  /** Every caller checks, because timers may run after requests that were received. */
  private look(): void {
    const now = this.now();
    const passedMs = Math.max(now[0] - this.last[0], now[1] - this.last[1]) - TICK_MS;
    if (passedMs <= OVERSLEPT_MS) return;
    this.last = now;
    this.isUntold = true;
    if (passedMs > LONG_MS) this.wokeAt = now[0];
  }

  private now(): readonly [number, number] {
    return [this.clocks.monotonic(), this.clocks.clock()];
  }
}
