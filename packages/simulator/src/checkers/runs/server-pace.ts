import type { Command, PartitionLimits } from '@sluice/core';
import type { Simulation } from '../../kernel/simulation.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { Checker } from '../checker.ts';

/** From this share of the memory on, steps may have to wait for room. */
const FULL_SHARE = 0.6;

/** Knows since when the server has been free to go on with runs. */
export class ServerPace implements Checker {
  readonly name = 'server pace';
  private readonly simulation: Simulation;
  private readonly limits: PartitionLimits;
  /** The world's time. */
  freeSince = 0;
  private wasResting = false;

  constructor(simulation: Simulation, limits: PartitionLimits) {
    this.simulation = simulation;
    this.limits = limits;
  }

  booted(): void {
    this.freeSince = this.simulation.now;
  }

  stalled(forMs: number): void {
    this.freeSince = Math.max(this.freeSince, this.simulation.now + forMs);
  }

  woken(): void {
    this.freeSince = Math.min(this.freeSince, this.simulation.now);
  }

  executed(_command: Command, _reply: unknown, { state, grantsLeases }: WatchedPartition): void {
    const isFull = state.heldBytes > this.limits.payloadBytesMax * FULL_SHARE;
    const isResting = !grantsLeases || isFull;
    if (isResting || this.wasResting) {
      this.freeSince = Math.max(this.freeSince, this.simulation.now);
    }
    this.wasResting = isResting;
  }
}
