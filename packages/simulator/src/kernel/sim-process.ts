import type { Simulation } from './simulation.ts';

/**
 * A process of the simulated world: it can be killed and stopped, and has clocks of its own.
 *
 * What it plans happens only while it lives; what falls into a pause happens when that is over, in
 * the same order.
 */
export class SimProcess {
  readonly name: string;
  private readonly simulation: Simulation;
  private isAlive = true;
  private pausedUntil = 0;
  /** What fell into a pause, in order. */
  private deferred: (() => void)[] = [];
  /** How many of those have happened; thousands may wait, and each would move the others up. */
  private caughtUp = 0;
  /** How far its wall clock is ahead of the world's time. */
  private wallOffsetMs: number;
  /** How much faster than the world's time its clocks run. */
  private readonly drift: number;
  private readonly startedAt: number;

  constructor(simulation: Simulation, name: string, clock = { offsetMs: 0, drift: 0 }) {
    this.simulation = simulation;
    this.name = name;
    this.wallOffsetMs = clock.offsetMs;
    this.drift = clock.drift;
    this.startedAt = simulation.now;
  }

  get alive(): boolean {
    return this.isAlive;
  }

  /** Milliseconds since its start, by its own pace. */
  readonly monotonic = (): number => {
    return (this.simulation.now - this.startedAt) * (1 + this.drift);
  };

  /** What its wall clock says. */
  readonly wall = (): number => {
    const driftedMs = (this.simulation.now - this.startedAt) * this.drift;
    return Math.floor(EPOCH_MS + this.simulation.now + driftedMs + this.wallOffsetMs);
  };

  /** Somebody sets its wall clock. */
  shiftWall(ms: number): void {
    this.wallOffsetMs += ms;
  }

  /** As a timer of the process: by its own clock, and never once it is dead. */
  readonly after = (delayMs: number, run: () => void): (() => void) => {
    let isOff = false;
    const fire = () => {
      if (!isOff) run();
    };
    this.simulation.after(delayMs / (1 + this.drift), () => this.hear(fire));
    return () => {
      isOff = true;
    };
  };

  /** Something reaches the process from outside: now, or when its pause is over. */
  hear(run: () => void): void {
    if (this.isPaused || this.deferred.length > 0) this.deferred.push(run);
    else if (this.isAlive) run();
  }

  /** One after the other, so that what one of them promised is settled before the next. */
  private catchUp(): void {
    if (this.isPaused) return;
    const run = this.deferred.at(this.caughtUp);
    if (run === undefined) return;
    this.caughtUp += 1;
    if (this.caughtUp === this.deferred.length) {
      this.deferred = [];
      this.caughtUp = 0;
    }
    this.simulation.after(0, () => this.catchUp());
    if (this.isAlive) run();
  }

  /** It stands still, and hears afterwards all that was said to it. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.simulation.now + ms);
    this.simulation.after(ms, () => this.catchUp());
    this.log(`stopped for ${Math.round(ms)} ms`);
  }

  /** Its pause is over now. */
  wake(): void {
    if (!this.isPaused) return;
    this.pausedUntil = this.simulation.now;
    this.catchUp();
  }

  /** When its last pause ended, or will. */
  get awakeSince(): number {
    return this.pausedUntil;
  }

  get isPaused(): boolean {
    return this.pausedUntil > this.simulation.now;
  }

  kill(): void {
    this.isAlive = false;
    this.log('killed');
  }

  log(what: string): void {
    this.simulation.log(this.name, what);
  }
}

/** When every simulated world begins: a time like any other. */
const EPOCH_MS = Date.UTC(2030, 0, 1);
