import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { askToStop } from '../../decision/stop-attempts.ts';
import { findTask } from '../../state/find-task.ts';
import { CANCELLED, CANCELLED_REASON, isHeld, isTerminal } from '../../task/task-state.ts';

/** A task that nobody holds ends at once; one that is held is asked to stop. */
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
 * Cancels tasks. What nobody holds ends at once. What is held is asked to stop: from the answer on
 * its end is `cancelled`, whatever its worker reports.
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
