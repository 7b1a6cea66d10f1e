import type { Slot, TaskNumber } from '../base/ids.ts';
import { unreachable } from '../base/invariant.ts';
import type { CallbackEvent } from '../events/callback-event.ts';
import type { State } from '../state/state.ts';
import { TASK_STATES } from '../task/task-state.ts';

/**
 * The task went to another state: if somebody wants to hear of that one, it is owed to them. A part
 * of `apply`, so that a change and what is owed for it are one fact.
 */
export function oweCallback(state: State, slot: Slot, at: number): void {
  const { tasks, callbacks, outbox } = state;
  const wanted = tasks.callback[slot];
  const to = tasks.state[slot];
  if (wanted === 0 || callbacks.at(wanted)?.on.includes(TASK_STATES[to]) !== true) return;
  outbox.add({
    task: tasks.number[slot] as TaskNumber,
    submittedAt: tasks.submittedAt[slot],
    queue: tasks.queue[slot],
    // Held by itself: the task may leave memory before its receiver is there.
    callback: callbacks.hold(callbacks.textAt(wanted)),
    state: to,
    at,
  });
}

/** The part of `apply` that is about deliveries. */
export function applyCallback(state: State, at: number, event: CallbackEvent): void {
  const { outbox } = state;
  switch (event.type) {
    case 'callback_failed': {
      const { delivery, failure, status, nextAt } = event;
      return outbox.fail(delivery, { failure, status, nextAt, at });
    }
    case 'callback_redelivered':
      return outbox.redeliver(event.delivery, at);
    case 'callback_dropped':
      outbox.dropped += 1;
      return state.callbacks.release(outbox.remove(event.delivery).callback);
    case 'callback_delivered':
      return state.callbacks.release(outbox.remove(event.delivery).callback);
    default:
      unreachable(event);
  }
}
