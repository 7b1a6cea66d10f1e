import { NO_SLOT } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { tellToStop } from '../../decision/stop-attempts.ts';
import { findTask } from '../../state/find-task.ts';
import {
  CANCELLED,
  CANCELLED_REASON,
  ENDED_OUTSIDE_REASON,
  FAILED,
  isTerminal,
  SUCCEEDED,
} from '../../task/task-state.ts';

/** Ends a task from outside: a deferred task, or any other. */
export interface EndTask extends Timed {
  readonly type: 'end_task';
  readonly id: string;
  readonly outcome: 'succeeded' | 'failed';
  /** The output or the error as JSON text; empty for null. */
  readonly payload: Uint8Array;
  /**
   * Idempotency key of the request, a whole number; 0 or absent without one. A repeat of the
   * request that ended the task gets the same answer as the first time.
   */
  readonly key?: number;
}

export type EndTaskReply = TaskOutcome<'task_not_found' | 'task_finished'>;

/**
 * Ends a task from outside. Its worker is told to stop at once, because its lease is over. A task
 * that is being cancelled ends as cancelled here, too.
 */
export function decideEndTask(decision: Decision, command: EndTask): EndTaskReply {
  const { state } = decision;
  const { tasks } = state;
  const slot = findTask(state, command.namespace, command.id);
  if (slot === NO_SLOT) return { rejection: 'task_not_found', slot };
  const { payload, key = 0 } = command;
  // A repeat of a request whose answer was lost. The task may have been retried since.
  if (key !== 0 && tasks.endKey[slot] === key) return { slot };
  if (isTerminal(tasks.state[slot])) return { rejection: 'task_finished', slot };

  const isCancelled = tasks.stop[slot] === CANCELLED_REASON;
  tellToStop(decision, slot, { reason: ENDED_OUTSIDE_REASON, graceMs: 0 });
  const ended = command.outcome === 'succeeded' ? SUCCEEDED : FAILED;
  if (isCancelled) {
    endTask(decision, slot, { state: CANCELLED, reason: CANCELLED_REASON, key });
  } else {
    endTask(decision, slot, {
      state: ended,
      reason: ENDED_OUTSIDE_REASON,
      key,
      payload: { bytes: payload, start: 0, end: payload.length },
    });
  }
  return { slot };
}
