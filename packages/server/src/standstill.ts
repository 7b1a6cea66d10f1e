/** How often `beat` is to be called. */
export const TICK_MS = 500;

/** A beat that is late by more than this shows that the process did not run. */
const OVERSLEPT_MS = 500;

/** What waited for longer than this may be from somebody who has given up since. */
const LONG_MS = 10_000;

/** After so long all that waited has been read. */
const WAKING_MS = 1000;

/**
 * Notices that the process stood still: it was stopped, starved, or its machine was frozen.
 */
export class Standstill {
  private readonly monotonic: () => number;
  private lastBeatAt: number;
  /** When a long standstill was noticed. */
  private wokeAt = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.monotonic = monotonic;
    this.lastBeatAt = monotonic();
  }

  /** To be called once in `TICK_MS`. Answers whether the process did not run for a while. */
  beat(): boolean {
    this.look();
    const now = this.monotonic();
    const lateMs = now - this.lastBeatAt - TICK_MS;
    this.lastBeatAt = now;
    return lateMs > OVERSLEPT_MS;
  }

  /** Whether what is read now may have waited through a long standstill. */
  get isWaking(): boolean {
    this.look();
    return this.monotonic() - this.wokeAt < WAKING_MS;
  }

  /** Whoever comes first notices it: the timers may have their turn after what was received. */
  private look(): void {
    const now = this.monotonic();
    const hasWoken = now - this.lastBeatAt > TICK_MS + LONG_MS;
    if (hasWoken && this.wokeAt < this.lastBeatAt) this.wokeAt = now;
  }
}
