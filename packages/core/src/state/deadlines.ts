import type { Slot } from '../base/ids.ts';
import {
  CANCELLED_REASON,
  DEFERRED,
  LEASED,
  NO_STOP,
  PAUSED,
  QUEUED,
  RUNNING,
  WAITING,
} from '../task/task-state.ts';
import type { ReadonlyState } from './state.ts';

type Tasks = Pick<ReadonlyState, 'tasks' | 'texts'>;

/** The earliest deadline of the task; infinite if it has none. */
export function deadlineOf(state: Tasks, slot: Slot): number {
  const { tasks } = state;
  const taskState = tasks.state[slot];
  if (tasks.timeouts[slot] === 0) {
    if (taskState === WAITING) return tasks.dueAt[slot];
    return tasks.stop[slot] === NO_STOP ? Number.POSITIVE_INFINITY : tasks.stopAt[slot];
  }
  const ownAt = ownDeadline(state, slot);
  return hasTotal(state, slot) ? Math.min(ownAt, totalDeadline(state, slot)) : ownAt;
}

/** Whether the deadline of a queued task has passed, even if its timer has not fired yet. */
export function isOverdue(state: Tasks, slot: Slot, now: number): boolean {
  return state.tasks.timeouts[slot] !== 0 && deadlineOf(state, slot) <= now;
}

/** When the total timeout of the task ends; infinite without one. */
export function totalDeadline({ tasks, texts }: Tasks, slot: Slot): number {
  const since = tasks.retriedAt[slot] === 0 ? tasks.submittedAt[slot] : tasks.retriedAt[slot];
  return since + texts.timeouts.at(tasks.timeouts[slot]).totalMs;
}

/**
 * A task that is being cancelled ends as cancelled even if it is late. A finished task has no
 * deadline.
 */
function hasTotal({ tasks }: Tasks, slot: Slot): boolean {
  const taskState = tasks.state[slot];
  return (taskState <= PAUSED || taskState === DEFERRED) && tasks.stop[slot] !== CANCELLED_REASON;
}

/** The deadline that depends on the task's current state. */
function ownDeadline({ tasks, texts }: Tasks, slot: Slot): number {
  const { queueMs, runMs } = texts.timeouts.at(tasks.timeouts[slot]);
  switch (tasks.state[slot]) {
    case WAITING:
      return tasks.dueAt[slot];
    case QUEUED:
      return tasks.dueAt[slot] + queueMs;
    case LEASED:
    case RUNNING:
      return tasks.stop[slot] === NO_STOP ? tasks.leasedAt[slot] + runMs : tasks.stopAt[slot];
    case DEFERRED:
      return tasks.leasedAt[slot] + runMs;
    default:
      return Number.POSITIVE_INFINITY;
  }
}
