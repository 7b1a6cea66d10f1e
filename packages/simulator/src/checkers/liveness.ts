import { isTerminal, REASONS, type ReadonlyState, type Slot, TASK_STATES } from '@sluice/core';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './checker.ts';

/**
 * After all faults are healed, every task that can end does end within a bound. Tasks that are
 * paused or deferred are excluded. Used in liveness mode only.
 */
export class Liveness implements Checker {
  readonly name = 'liveness';
  private readonly simulation: Simulation;
  private partition: WatchedPartition | undefined;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  booted(partition: WatchedPartition): void {
    this.partition = partition;
  }

  stopped(): void {
    this.partition = undefined;
  }

  /** Must be called when the bound has passed. */
  look(boundMs: number): void {
    const { partition, simulation } = this;
    simulation.check(partition !== undefined, 'liveness', 'the server is not there');
    if (partition === undefined) return;
    const stuck = stuckTasks(partition.state);
    simulation.check(stuck.length === 0, 'liveness', () => {
      return `${stuck.length} tasks have not ended after ${boundMs} ms: ${stuck.slice(0, 5).join('; ')}`;
    });
  }
}

function stuckTasks(state: ReadonlyState): string[] {
  const stuck: string[] = [];
  const { tasks } = state;
  for (let slot = 0; slot < tasks.capacity; slot++) {
    if (tasks.number[slot] === 0 || isTerminal(tasks.state[slot])) continue;
    const name = TASK_STATES[tasks.state[slot]];
    const reason = REASONS[tasks.reason[slot]];
    if (name === 'paused' || reason === 'later') continue;
    const type = state.typeOf(slot as Slot);
    stuck.push(`task ${tasks.number[slot]} of ${type} is ${name} (${reason})`);
  }
  return stuck;
}
