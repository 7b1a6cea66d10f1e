import {
  isTerminal,
  NO_SLOT,
  REASONS,
  type ReadonlyState,
  type Slot,
  TASK_STATES,
  type TaskNumber,
} from '@sluice/core';
import { describeRuns } from '@sluice/core/testing/runs/describe-runs';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';

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
    const stuck = [...stuckTasks(partition.state), ...stuckRuns(partition.state)];
    simulation.check(stuck.length === 0, 'liveness', () => {
      return `${stuck.length} tasks and runs have not ended after ${boundMs} ms: ${stuck.slice(0, 5).join('; ')}`;
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

/**
 * From this share of the memory on, a step may wait for room: the memory of these worlds is very
 * small. Runs that wait for each other do so for ten minutes, which is longer than the bound.
 */
const FULL_SHARE = 0.6;

/** A run that has not ended waits for a call, or for a task that may wait for ever. */
function stuckRuns(state: ReadonlyState): string[] {
  return describeRuns(state).flatMap((run) => {
    if (!['running', 'stopping'].includes(run.state)) return [];
    const live = run.steps.filter((step) => step.state === 'running' || step.state === 'stopping');
    // A run below is looked at itself.
    const isWaiting = live.some((step) => {
      const isTold = step.task === 0 && !step.isEvaluating && step.until === 0;
      return step.child !== 0 || (isTold && step.iteration === 0) || isPatient(state, step.task);
    });
    const { payloadBytesMax, tasksMax } = state.limits;
    const isFull =
      state.heldBytes > payloadBytesMax * FULL_SHARE ||
      state.tasks.count + state.runs.promised > tasksMax * FULL_SHARE;
    const waitsForRoom = isFull && run.steps.some((step) => step.state === 'due');
    return isWaiting || waitsForRoom
      ? []
      : [`run ${run.number} is ${run.state}, with ${live.length} live steps`];
  });
}

function isPatient({ tasks }: ReadonlyState, number: number): boolean {
  const slot = tasks.find(number as TaskNumber);
  if (slot === NO_SLOT) return false;
  return TASK_STATES[tasks.state[slot]] === 'paused' || REASONS[tasks.reason[slot]] === 'later';
}
