import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { findTask } from '../../state/find-task.ts';
import { isTerminal, SUCCEEDED } from '../../task/task-state.ts';

/** Retries tasks that ended without success. They get all their attempts again. */
export interface RetryTasks extends Timed {
  readonly type: 'retry_tasks';
  readonly ids: readonly string[];
}

export interface RetryTasksReply {
  readonly outcomes: readonly TaskOutcome<
    'task_not_found' | 'task_not_finished' | 'task_finished'
  >[];
}

/** Retries tasks that ended without success. Ids stay the same; attempts count from 1. */
export function decideRetryTasks(decision: Decision, command: RetryTasks): RetryTasksReply {
  const outcomes = command.ids.map((id) => {
    const slot = findTask(decision.state, command.namespace, id);
    if (slot === NO_SLOT) return { rejection: 'task_not_found' as const, slot };
    const taskState = decision.state.tasks.state[slot];
    if (taskState === SUCCEEDED) return { rejection: 'task_finished' as const, slot };
    if (!isTerminal(taskState)) return { rejection: 'task_not_finished' as const, slot };
    retry(decision, slot, 0);
    return { slot };
  });
  return { outcomes };
}

export function retry({ state, emit, events }: Decision, slot: Slot, redrive: number): void {
  events.taskRetried.slot = slot;
  events.taskRetried.task = state.tasks.number[slot] as TaskNumber;
  events.taskRetried.redrive = redrive;
  emit(events.taskRetried);
}
