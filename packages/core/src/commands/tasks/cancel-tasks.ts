import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { askToStop } from '../../decision/stop-attempts.ts';
import { findTask } from '../../state/find-task.ts';
import { CANCELLED, CANCELLED_REASON, isHeld, isTerminal } from '../../task/task-state.ts';

export interface CancelTasks extends Timed {
  readonly type: 'cancel_tasks';
  readonly ids: readonly string[];
  /** How long a worker may take to stop before its lease is revoked. */
  readonly graceMs: number;
}

export interface CancelTasksReply {
  readonly outcomes: readonly TaskOutcome<'task_not_found' | 'task_finished'>[];
}

/**
 * Cancels tasks. A task that is not leased ends at once. A leased task's worker is asked to stop;
 * from then on the task ends as `cancelled`, whatever the worker reports.
 */
export function decideCancelTasks(decision: Decision, command: CancelTasks): CancelTasksReply {
  const outcomes = command.ids.map((id) => {
    const slot = findTask(decision.state, command.namespace, id);
    if (slot === NO_SLOT) return { rejection: 'task_not_found' as const, slot };
    const taskState = decision.state.tasks.state[slot];
    if (isTerminal(taskState) && taskState !== CANCELLED) {
      return { rejection: 'task_finished' as const, slot };
    }
    cancel(decision, slot, command.graceMs);
    return { slot };
  });
  return { outcomes };
}

function cancel(decision: Decision, slot: Slot, graceMs: number): void {
  const { tasks } = decision.state;
  if (tasks.state[slot] === CANCELLED || tasks.stop[slot] === CANCELLED_REASON) return;
  if (isHeld(tasks.state[slot])) askToStop(decision, slot, { reason: CANCELLED_REASON, graceMs });
  else endTask(decision, slot, { state: CANCELLED, reason: CANCELLED_REASON });
}
