/** How often `beat` is to be called. */
export const TICK_MS = 500;

/** A beat that is late by more than this shows that the process did not run. */
const OVERSLEPT_MS = 500;

/** What waited for longer than this may be from somebody who has given up since. */
const LONG_MS = 10_000;

/** After so long all that waited has been read. */
const WAKING_MS = 1000;

export interface Clocks {
  /** Milliseconds that only ever run forward; they may stop while the machine sleeps. */
  readonly monotonic: () => number;
  /** The time that commands carry. */
  readonly clock: () => number;
}

/**
 * Notices that time passed in which nobody listened: the process was stopped, starved, its machine
 * slept, or somebody set the clock.
 */
export class Standstill {
  private readonly clocks: Clocks;
  /** On both clocks, at the last beat or standstill. */
  private last: readonly [number, number];
  private isUntold = false;
  /** When a long standstill was noticed. */
  private wokeAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: Clocks) {
    this.clocks = clocks;
    this.last = this.now();
  }

  /** To be called once in `TICK_MS`; as `hasBeen`. */
  beat(): boolean {
    const hasBeen = this.hasBeen();
    this.last = this.now();
    return hasBeen;
  }

  /** Whether there was one that nobody was told of yet. */
  hasBeen(): boolean {
    this.look();
    const { isUntold } = this;
    this.isUntold = false;
    return isUntold;
  }

  /** Whether what is read now may have waited through a long one. */
  get isWaking(): boolean {
    this.look();
    return this.clocks.monotonic() - this.wokeAt < WAKING_MS;
  }

  /** Whoever comes first notices it: timers may have their turn after what was received. */
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
