/** Starts something that runs once after a delay, and answers how to prevent it. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

/** Longer delays are slept in pieces: a timer of Node holds no more than 24 days. */
const DELAY_MS_MAX = 3_600_000;

/**
 * Rings at a time that may change at any moment. It may ring early, after a clock was set or a
 * piece of a long delay: whoever hears it looks at the time and sets it again.
 */
export class Alarm {
  private readonly startTimer: StartTimer;
  private readonly ring: () => void;
  private at = Number.POSITIVE_INFINITY;
  /** What it was started with. */
  private delayMs = 0;
  private cancel: (() => void) | undefined;

  constructor(startTimer: StartTimer, ring: () => void) {
    this.startTimer = startTimer;
    this.ring = ring;
  }

  /** Infinite turns it off. */
  set(at: number, now: number): void {
    const delayMs = Math.min(Math.max(at - now, 0), DELAY_MS_MAX);
    // A clock that was set forward makes it overdue while its timer still sleeps.
    const isOversleeping = delayMs === 0 && this.delayMs > 0;
    if (at === this.at && !isOversleeping) return;
    this.cancel?.();
    this.cancel = undefined;
    this.at = at;
    this.delayMs = delayMs;
    if (at === Number.POSITIVE_INFINITY) return;
    this.cancel = this.startTimer(delayMs, () => {
      this.at = Number.POSITIVE_INFINITY;
      this.cancel = undefined;
      this.ring();
    });
  }
}
