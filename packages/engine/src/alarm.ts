/** Starts something that runs once after a delay, and answers how to prevent it. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

/** Longer delays are slept in pieces: a timer of Node holds no more than 24 days. */
const DELAY_MS_MAX = 3_600_000;

/** A timer that was started longer ago than this is not relied on. */
const TRUSTED_MS = 10;

/**
 * Rings at a time that may change at any moment. It may ring early, after a clock was set or a
 * piece of a long delay: whoever hears it looks at the time and sets it again.
 */
export class Alarm {
  private readonly startTimer: StartTimer;
  private readonly ring: () => void;
  private at = Number.POSITIVE_INFINITY;
  /** What its timer was started with, and when. */
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
    // A clock that is set forward brings the time nearer, and a timer sleeps on as long as it was
    // told. Nothing tells a clock that was set from one that ran, so it is told anew now and then.
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
