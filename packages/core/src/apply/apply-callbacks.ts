import type { Slot, TaskNumber } from '../base/ids.ts';
import type { CALLBACK_EVENTS } from '../events/callback-events.ts';
import type { EventOf } from '../events/events.ts';
import type { State } from '../state/state.ts';
import { TASK_STATES } from '../task/task-state.ts';
import type { Appliers } from './applier.ts';

/**
 * Adds a delivery if the task's callback subscribes to the state that the task just entered. This
 * is a part of `apply`, so that the state change and its delivery are one fact.
 */
export function oweCallback(state: State, slot: Slot, at: number): void {
  const { tasks, outbox } = state;
  const callbacks = state.texts.callback;
  const wanted = tasks.callback[slot];
  const to = tasks.state[slot];
  if (wanted === 0 || callbacks.at(wanted)?.on.includes(TASK_STATES[to]) !== true) return;
  // The delivery names the queue, so the queue stays until the delivery is over.
  state.queueTable.places[tasks.queue[slot]].references += 1;
  outbox.add({
    task: tasks.number[slot] as TaskNumber,
    submittedAt: tasks.submittedAt[slot],
    queue: tasks.queue[slot],
    // The delivery holds the callback itself, because the task may leave memory before the delivery
    // is done.
    callback: callbacks.hold(callbacks.textAt(wanted)),
    state: to,
    at,
  });
}

/** The same for a run that ended. */
export function oweRunDelivery(
  state: State,
  at: number,
  event: EventOf<'run_delivery_owed'>,
): void {
  const queue = state.queueTable.intern(event.taskType);
  queue.references += 1;
  state.outbox.add({
    task: event.task,
    submittedAt: state.runs.table.startedAt[event.slot],
    queue: queue.index,
    callback: state.texts.callback.hold(event.callback),
    state: event.state,
    at,
  });
}

/** The part of `apply` for deliveries. */
export const CALLBACK_APPLIERS: Appliers<typeof CALLBACK_EVENTS> = {
  callback_delivered: (state, _at, event) => removeDelivery(state, event),
  callback_failed: ({ outbox }, at, { delivery, failure, status, nextAt }) =>
    outbox.fail(delivery, { failure, status, nextAt, at }),
  callback_redelivered: ({ outbox }, at, { delivery }) => outbox.redeliver(delivery, at),
  callback_dropped: (state, _at, event) => {
    state.outbox.dropped += 1;
    removeDelivery(state, event);
  },
};

type Over = EventOf<'callback_delivered'> | EventOf<'callback_dropped'>;

function removeDelivery({ outbox, texts, queueTable }: State, { delivery }: Over): void {
  const removed = outbox.remove(delivery);
  texts.callback.release(removed.callback);
  const queue = queueTable.places[removed.queue];
  queue.references -= 1;
  queueTable.forgetIfUnused(queue);
}
