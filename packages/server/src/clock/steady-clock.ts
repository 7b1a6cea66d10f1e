import { uptime } from 'node:os';

/** A larger step of the wall clock is not believed at once. */
const BELIEVED_STEP_MS = 60_000;

/** A larger step is believed when it has lasted this long. */
const CONFIRMATION_MS = 10_000;

/** A larger step is a mistake of the clock, unless the machine slept. */
const JUMP_MS = 3_600_000;

/** How often a refused jump is checked again: each check costs a system call. */
const RECHECK_MS = 1000;

/** How much slower than real time the clock runs while the wall clock is behind. */
const SLEW = 0.1;

export interface ClockSources {
  /** Milliseconds since 1970; an administrator or NTP may set it at any time. */
  readonly wall: () => number;
  /** Milliseconds since an arbitrary start; only increases, at its own rate. */
  readonly monotonic: () => number;
  /** Like `monotonic`, but counts the time that the machine slept. Absent: it never sleeps. */
  readonly boot?: () => number;
}

const MACHINE: ClockSources = {
  wall: Date.now,
  monotonic: () => performance.now(),
  boot: () => uptime() * 1000,
};

/** What an operator should be told. */
export type ClockNotice =
  | { readonly type: 'clock_jump_refused'; readonly aheadMs: number }
  | { readonly type: 'clock_jump_over' }
  | { readonly type: 'log_ahead'; readonly aheadMs: number };

export interface ClockOptions {
  /** Follows jumps of any size after ten seconds. */
  readonly acceptsJumps?: boolean;
  readonly notify?: (notice: ClockNotice) => void;
}

export interface ClockStatus {
  /** `slowed` while the wall clock is more than a minute behind the time of the partition. */
  readonly state: 'ok' | 'jump_refused' | 'slowed';
  readonly wallAheadMs: number;
}

/**
 * The time of a partition (L8). It follows the wall clock but never runs backwards. One wrong
 * reading cannot fire a month of timers or freeze all others.
 *
 * When the wall clock was set back, this clock runs slower until both agree. A step forward of more
 * than a minute is followed only when it still holds ten seconds later. A step forward of more than
 * an hour is not followed at all: time never runs back, so the effects of a wrong clock could not
 * be undone. The next start takes the wall clock as it is.
 */
export class SteadyClock {
  private readonly sources: ClockSources;
  private readonly acceptsJumps: boolean;
  private readonly notify: (notice: ClockNotice) => void;
  private last: number;
  private lastMonotonic: number;
  /** Since when the wall clock has been far ahead, in monotonic time; infinite when it is not. */
  private aheadSince = Number.POSITIVE_INFINITY;
  /** Total sleep time when the wall clock was last followed. */
  private sleptMs: number;
  /** When a refused jump is checked next; infinite while there is none. */
  private recheckAt = Number.POSITIVE_INFINITY;

  constructor(
    sources: ClockSources = MACHINE,
    { acceptsJumps = false, notify = () => undefined }: ClockOptions = {},
  ) {
    this.sources = sources;
    this.acceptsJumps = acceptsJumps;
    this.notify = notify;
    this.last = sources.wall();
    this.lastMonotonic = sources.monotonic();
    this.sleptMs = this.asleepMs();
  }

  /**
   * The partition has already used this time, so the clock never returns an earlier one. If the
   * wall clock was set back while the server was down, time runs slower but does not stop.
   */
  notBefore(time: number): void {
    const aheadMs = time - this.now();
    if (aheadMs > BELIEVED_STEP_MS) this.notify({ type: 'log_ahead', aheadMs });
    this.last = Math.max(this.last, time);
  }

  get status(): ClockStatus {
    const wallAheadMs = Math.round(this.sources.wall() - this.now());
    if (Number.isFinite(this.recheckAt)) return { state: 'jump_refused', wallAheadMs };
    return { state: wallAheadMs < -BELIEVED_STEP_MS ? 'slowed' : 'ok', wallAheadMs };
  }

  now(): number {
    const monotonic = this.sources.monotonic();
    const passed = monotonic - this.lastMonotonic;
    const expected = this.last + passed;
    const step = this.sources.wall() - expected;
    const isFarAhead = step > BELIEVED_STEP_MS;
    if (!isFarAhead) this.aheadSince = Number.POSITIVE_INFINITY;
    else this.aheadSince = Math.min(this.aheadSince, monotonic);

    const isConfirmed = !isFarAhead || monotonic - this.aheadSince >= CONFIRMATION_MS;
    const isBelieved = isConfirmed && !this.refusesJump(step, monotonic);
    const change = isBelieved ? Math.max(step, -passed * SLEW) : 0;
    this.last = expected + change;
    this.lastMonotonic = monotonic;
    return Math.floor(this.last);
  }

  /** Whether a lasting step is a jump without an explanation. */
  private refusesJump(step: number, monotonic: number): boolean {
    const isRefused = Number.isFinite(this.recheckAt);
    if (step <= JUMP_MS || this.acceptsJumps) {
      if (isRefused) this.notify({ type: 'clock_jump_over' });
      this.recheckAt = Number.POSITIVE_INFINITY;
      return false;
    }
    if (isRefused && monotonic < this.recheckAt) return true;
    const asleepMs = this.asleepMs();
    if (step - (asleepMs - this.sleptMs) <= JUMP_MS) {
      this.sleptMs = asleepMs;
      this.recheckAt = Number.POSITIVE_INFINITY;
      return false;
    }
    this.recheckAt = monotonic + RECHECK_MS;
    if (!isRefused) this.notify({ type: 'clock_jump_refused', aheadMs: Math.round(step) });
    return true;
  }

  private asleepMs(): number {
    const { boot, monotonic } = this.sources;
    return boot === undefined ? 0 : boot() - monotonic();
  }
}
