/** Runs a function once after a delay; returns a function that cancels it. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

/** Longer delays are split: a Node timer holds no more than 24 days. */
const DELAY_MS_MAX = 3_600_000;

/** Age in milliseconds from which a running timer is no longer trusted. */
const TRUSTED_MS = 10;

/**
 * Rings at a time that may change at any moment. It may ring early, after a clock change or a part
 * of a long delay: the listener checks the time and sets the alarm again.
 */
export class Alarm {
  private readonly startTimer: StartTimer;
  private readonly ring: () => void;
  private at = Number.POSITIVE_INFINITY;
  /** Delay and start time of its timer. */
  private delayMs = 0;
  private startedAt = 0;
  private cancel: (() => void) | undefined;

  constructor(startTimer: StartTimer, ring: () => void) {
    this.startTimer = startTimer;
    this.ring = ring;
  }

  /** Infinite turns it off. */
  set(at: number, now: number): void {
    const delayMs = Math.min(Math.max(at - now, 0), DELAY_MS_MAX);
    // When the clock is set forward, the deadline comes nearer, but a running timer still sleeps
    // for its full delay. A clock change cannot be told from time that passed, so an older timer is
    // restarted.
    const mayOversleep = this.delayMs > 0 && now - this.startedAt >= TRUSTED_MS;
    if (at === this.at && !mayOversleep) return;
    this.cancel?.();
    this.cancel = undefined;
    this.at = at;
    this.delayMs = delayMs;
    this.startedAt = now;
    if (at === Number.POSITIVE_INFINITY) return;
    this.cancel = this.startTimer(delayMs, () => {
      this.at = Number.POSITIVE_INFINITY;
      this.cancel = undefined;
      this.ring();
    });
  }
}
