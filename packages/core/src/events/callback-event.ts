import type { Slot, TaskNumber } from '../base/ids.ts';

/** Events about what is owed to somebody who wants to be called back. Their slot is 0. */
interface DeliveryEvent {
  slot: Slot;
  task: TaskNumber;
  /** The number of the delivery. */
  delivery: number;
  /** The state that the task went to, as its number. */
  state: number;
}

/** One try to call back is over. */
interface DeliveryTried extends DeliveryEvent {
  /** Of the answer; 0 when there was none. */
  status: number;
  durationMs: number;
}

/** The receiver has it. */
interface CallbackDelivered extends DeliveryTried {
  readonly type: 'callback_delivered';
}

interface CallbackFailed extends DeliveryTried {
  readonly type: 'callback_failed';
  /** What went wrong, as the number of a failure. */
  failure: number;
  /** When it is tried next; 0 when it was given up. */
  nextAt: number;
}

/** Somebody wants one that was given up, or waits for its next try, to be tried from now on. */
interface CallbackRedelivered extends DeliveryEvent {
  readonly type: 'callback_redelivered';
}

/** One that was given up is forgotten: there are too many. */
interface CallbackDropped extends DeliveryEvent {
  readonly type: 'callback_dropped';
}

export type CallbackEvent =
  | CallbackDelivered
  | CallbackFailed
  | CallbackRedelivered
  | CallbackDropped;

export function makeCallbackEvents() {
  const delivery = { slot: 0 as Slot, task: 0 as TaskNumber, delivery: 0, state: 0 };
  const tried = { ...delivery, status: 0, durationMs: 0 };
  return {
    callbackDelivered: { type: 'callback_delivered', ...tried } as CallbackDelivered,
    callbackFailed: {
      type: 'callback_failed',
      ...tried,
      failure: 0,
      nextAt: 0,
    } as CallbackFailed,
    callbackRedelivered: { type: 'callback_redelivered', ...delivery } as CallbackRedelivered,
    callbackDropped: { type: 'callback_dropped', ...delivery } as CallbackDropped,
  };
}
