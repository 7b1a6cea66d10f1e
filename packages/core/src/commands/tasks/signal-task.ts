import { NO_SLOT } from '../../base/ids.ts';
import type { TaskOutcome, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { sessionOf } from '../../decision/lease-ends.ts';
import { signalCost, updateRoom } from '../../matching/matching.ts';
import { findTask } from '../../state/find-task.ts';
import { isHeld } from '../../task/task-state.ts';

/**
 * A message to the worker that runs the task. It is not stored: a disconnected worker misses it.
 */
export interface SignalTask extends Timed {
  readonly type: 'signal_task';
  readonly id: string;
  readonly name: string;
  readonly data: Uint8Array;
  /** Idempotency key: the same when the request is sent again. */
  readonly key?: string | undefined;
}

export type SignalTaskReply = TaskOutcome<
  'task_not_found' | 'task_not_leased' | 'worker_unreachable'
>;

/** Forwards a signal to the worker that runs the task. */
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
