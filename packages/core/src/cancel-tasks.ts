import type { Decision } from './decision.ts';
import { findTask } from './find-task.ts';
import { NO_SLOT, type Slot } from './ids.ts';
import { endTask } from './lease-ends.ts';
import { askToStop } from './stop-attempts.ts';
import type { CancelTasks, CancelTasksReply } from './task-commands.ts';
import { CANCELLED, CANCELLED_REASON, isHeld, isTerminal } from './task-state.ts';

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
