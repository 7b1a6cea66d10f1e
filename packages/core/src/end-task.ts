import type { Decision } from './decision.ts';
import { findTask } from './find-task.ts';
import { NO_SLOT } from './ids.ts';
import { endTask, sessionOf } from './lease-ends.ts';
import { signalCost, updateRoom } from './matching.ts';
import { tellToStop } from './stop-attempts.ts';
import type { EndTask, EndTaskReply, SignalTask, SignalTaskReply } from './task-commands.ts';
import {
  CANCELLED,
  CANCELLED_REASON,
  ENDED_OUTSIDE_REASON,
  FAILED,
  isHeld,
  isTerminal,
  SUCCEEDED,
} from './task-state.ts';

/**
 * Ends a task from outside. Whoever holds it is told to stop at once: its lease is over. A task
 * that is being cancelled ends as cancelled here too.
 */
export function decideEndTask(decision: Decision, command: EndTask): EndTaskReply {
  const { state } = decision;
  const { tasks } = state;
  const slot = findTask(state, command.namespace, command.id);
  if (slot === NO_SLOT) return { rejection: 'task_not_found', slot };
  const { payload, key = 0 } = command;
  // Sent again after its answer was lost. The task may have been retried since.
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

/** Passes a word on to the worker that holds the task. */
export function decideSignalTask(decision: Decision, command: SignalTask): SignalTaskReply {
  const { state, outputs } = decision;
  const slot = findTask(state, command.namespace, command.id);
  if (slot === NO_SLOT) return { rejection: 'task_not_found', slot };
  if (!isHeld(state.tasks.state[slot])) return { rejection: 'task_not_leased', slot };
  const session = sessionOf(decision, slot);
  if (session?.connected !== true) return { rejection: 'worker_unreachable', slot };
  const { name, data, key } = command;
  if (session.unsentBytes >= state.limits.unsentBytesMax) {
    return { rejection: 'worker_unreachable', slot };
  }
  session.unsentBytes += signalCost(command);
  updateRoom(decision, session);
  outputs.signals.push({ session: session.id, slot, name, data, key });
  return { slot };
}
