import { NO_SLOT, type Slot } from '../base/ids.ts';
import { parseTaskId } from '../base/task-id.ts';
import { isTerminal, PAUSED, QUEUED, WAITING } from '../task/task-state.ts';
import type { ReadonlyState } from './state.ts';
import { LEFT_RUN } from './task-table.ts';

/**
 * Finds a task by its id. Returns `NO_SLOT` when it is not in memory or belongs to another
 * namespace: callers must not learn that it exists there.
 */
export function findTask(state: ReadonlyState, namespace: string, id: string): Slot {
  const key = parseTaskId(id);
  if (key === undefined || key.partition !== state.partition) return NO_SLOT;
  const slot = state.tasks.find(key.number);
  if (slot === NO_SLOT || state.tasks.submittedAt[slot] !== key.submittedAt) return NO_SLOT;
  // It leaves memory with the next commands, and only its row still knows its run.
  if (state.tasks.step[slot] === LEFT_RUN) return NO_SLOT;
  return state.queues[state.tasks.queue[slot]].namespace === namespace ? slot : NO_SLOT;
}

/** Why a task cannot be patched or paused; undefined when it is neither finished nor running. */
export function whyNotIdle(
  { tasks }: ReadonlyState,
  slot: Slot,
): 'task_not_found' | 'task_finished' | 'task_running' | undefined {
  if (slot === NO_SLOT) return 'task_not_found';
  const taskState = tasks.state[slot];
  if (isTerminal(taskState)) return 'task_finished';
  const isIdle = taskState === WAITING || taskState === QUEUED || taskState === PAUSED;
  return isIdle ? undefined : 'task_running';
}
