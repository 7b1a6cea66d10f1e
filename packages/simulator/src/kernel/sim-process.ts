import type { Simulation } from './simulation.ts';

/**
 * A process of the simulated world, with its clocks. It can be killed and paused.
 *
 * Its timers fire only while it is alive. Whatever happens during a pause is delivered after it, in
 * the same order.
 */
export class SimProcess {
  readonly name: string;
  private readonly simulation: Simulation;
  private isAlive = true;
  private pausedUntil = 0;
  /** Deliveries that arrived during a pause, in order. */
  private deferred: (() => void)[] = [];
  /**
   * Number of these that were delivered. An index is used because removing the first of thousands
   * is slow.
   */
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

  /** Milliseconds since its start, by its own clock. */
  readonly monotonic = (): number => {
    return (this.simulation.now - this.startedAt) * (1 + this.drift);
  };

  /** The time on its wall clock. */
  readonly wall = (): number => {
    const driftedMs = (this.simulation.now - this.startedAt) * this.drift;
    return Math.floor(EPOCH_MS + this.simulation.now + driftedMs + this.wallOffsetMs);
  };

  /** Sets its wall clock forward or back. */
  shiftWall(ms: number): void {
    this.wallOffsetMs += ms;
  }

  /** Starts a timer by the clock of this process. It never fires once the process is dead. */
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

  /** Delivers something to the process: now, or after its pause. */
  hear(run: () => void): void {
    if (this.isPaused || this.deferred.length > 0) this.deferred.push(run);
    else if (this.isAlive) run();
  }

  /** Delivers one at a time, so that promises settle before the next delivery. */
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

  /** Pauses the process. It receives everything that arrived meanwhile when the pause ends. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.simulation.now + ms);
    this.simulation.after(ms, () => this.catchUp());
    this.log(`stopped for ${Math.round(ms)} ms`);
  }

  /** Ends the pause now. */
  wake(): void {
    if (!this.isPaused) return;
    this.pausedUntil = this.simulation.now;
    this.catchUp();
  }

  /** When its last pause ended or will end. */
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

/** The wall-clock time at which every simulated world begins. Its value does not matter. */
const EPOCH_MS = Date.UTC(2030, 0, 1);
