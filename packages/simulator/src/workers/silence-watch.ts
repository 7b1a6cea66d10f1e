import type { HttpAnswer } from '@sluice/sdk/logic';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';

/** A heartbeat may be this late, because timers round and process clocks drift. */
const LATE_MS = 100;

/**
 * The heartbeat as the network sees it (heartbeat.never-silent): a worker that holds leases, is
 * awake and was heard when it last spoke says something again before its leases are in danger.
 */
export class SilenceWatch {
  private readonly simulation: Simulation;
  private readonly process: SimProcess;
  private heartbeatMs = Number.POSITIVE_INFINITY;
  private inFlight = 0;
  /** Whether the server accepted the last request that was settled. */
  private wasHeard = true;
  private quietSince = 0;
  /** Start times of handlers that run and were not told to stop, by lease, in order of start. */
  private readonly heldSince = new Map<string, number>();

  constructor(simulation: Simulation, process: SimProcess) {
    this.simulation = simulation;
    this.process = process;
  }

  welcomed(heartbeatMs: number): void {
    this.heartbeatMs = heartbeatMs;
    this.quietSince = this.simulation.now;
    this.wasHeard = true;
  }

  /** The stream ended. The session may or may not exist. */
  parted(): void {
    this.heartbeatMs = Number.POSITIVE_INFINITY;
  }

  started(lease: string): void {
    this.heldSince.set(lease, this.simulation.now);
  }

  /** The handler ended, or was told to stop. */
  over(lease: string): void {
    this.look();
    this.heldSince.delete(lease);
  }

  /**
   * A request is sent. The caller must call the returned function with the answer, if there is one.
   */
  sent(): (answer: HttpAnswer | undefined) => void {
    this.look();
    this.quietSince = this.simulation.now;
    this.inFlight += 1;
    let isSettled = false;
    return (answer) => {
      if (isSettled) return;
      isSettled = true;
      this.inFlight -= 1;
      this.wasHeard = answer?.status === 200;
    };
  }

  private look(): void {
    const [heldSince] = this.heldSince.values();
    // Requests wait for those in flight, and wait a while after a failed one.
    if (heldSince === undefined || this.inFlight > 0 || !this.wasHeard) return;
    const since = Math.max(this.quietSince, heldSince, this.process.awakeSince);
    const silentMs = this.simulation.now - since;
    this.simulation.check(silentMs <= 2 * this.heartbeatMs + LATE_MS, 'I27', () => {
      const promised = `and promised a word every ${this.heartbeatMs}`;
      return `${this.process.name} holds leases, was silent for ${Math.round(silentMs)} ms ${promised}`;
    });
  }
}
