import type { Command } from '@sluice/core';
import type { Simulation } from '../../kernel/simulation.ts';
import type { WorldPlan } from '../../plan/world-plan.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { Checker } from '../story/checker.ts';

/** From this share of the memory on, steps may have to wait for room. */
const FULL_SHARE = 0.6;

/** The promise, and the bound in worlds in which a command does next to nothing for runs. */
const LATE_MS_MAX = 50;
const LATE_MS_OF_FEW = 2000;
const FEW_UNITS = 10;

/** Knows since when the server has been free to go on with runs. */
export class ServerPace implements Checker {
  readonly name = 'server pace';
  private readonly simulation: Simulation;
  private readonly plan: WorldPlan;
  /** The world's time. */
  freeSince = 0;
  private wasResting = false;

  constructor(simulation: Simulation, plan: WorldPlan) {
    this.simulation = simulation;
    this.plan = plan;
  }

  /** How late what may enter enters at most, while the server is free. */
  get lateMsMax(): number {
    const unitsMax = this.plan.runs?.unitsMax ?? 0;
    return unitsMax < FEW_UNITS ? LATE_MS_OF_FEW : LATE_MS_MAX;
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
    const { payloadBytesMax, tasksMax, callbacksMax } = this.plan.limits;
    const hasBytes = state.heldBytes <= payloadBytesMax * FULL_SHARE;
    // Loops wait for room for the tasks of their body, and then the line rests.
    const hasTasks = state.tasks.count + state.runs.promised <= tasksMax * FULL_SHARE;
    // So do steps that owe a delivery.
    const hasDeliveries = state.outbox.pendingCount <= callbacksMax * FULL_SHARE;
    const isResting = !grantsLeases || !hasBytes || !hasTasks || !hasDeliveries;
    if (isResting || this.wasResting) {
      this.freeSince = Math.max(this.freeSince, this.simulation.now);
    }
    this.wasResting = isResting;
  }
}
