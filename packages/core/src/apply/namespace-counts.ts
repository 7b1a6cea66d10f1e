import type { Slot } from '../base/ids.ts';
import { countShape } from '../state/namespaces.ts';
import type { ReadonlyState, State } from '../state/state.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { isDead, isTerminal } from '../task/task-state.ts';

/**
 * Counts what each namespace uses. A part of `apply`.
 *
 * A task counts until it ends, and as long as it is a dead letter. Any other finished task is kept
 * only for reading and does not count.
 */
export function counts({ tasks }: Pick<ReadonlyState, 'tasks'>, slot: Slot): boolean {
  const taskState = tasks.state[slot];
  if (!isTerminal(taskState)) return true;
  return isDead(taskState) && tasks.isDiscarded[slot] === 0 && tasks.step[slot] === 0;
}

/** Starts to count the task and its payloads. */
export function countTask(state: State, slot: Slot): void {
  const use = useOf(state, slot);
  use.tasks += 1;
  countShape(use, state.tasks.shape[slot], 1);
  use.payloadBytes += payloadBytesOf(state, slot);
}

/** Stops counting the task and its payloads. */
export function uncountTask(state: State, slot: Slot): void {
  const use = useOf(state, slot);
  use.tasks -= 1;
  countShape(use, state.tasks.shape[slot], -1);
  use.payloadBytes -= payloadBytesOf(state, slot);
  state.namespaces.forgetIfUnused(use);
}

/** Stores a payload of a task that counts. */
export function storePayload(state: State, column: number, slot: Slot, range: PayloadRange): void {
  const before = payloadBytesOf(state, slot);
  state.payloads.store(column, slot, range);
  useOf(state, slot).payloadBytes += payloadBytesOf(state, slot) - before;
}

function useOf({ queues, tasks }: State, slot: Slot) {
  return queues[tasks.queue[slot]].use;
}

function payloadBytesOf({ tasks }: State, slot: Slot): number {
  return tasks.inputLength[slot] + tasks.resultLength[slot];
}
