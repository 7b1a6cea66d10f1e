import { byte, type EventDeclaration, number, stateNumber } from './fields.ts';

const DELIVERY = {
  /** The number of the delivery. */
  delivery: number,
  /** The state that the task entered. */
  state: stateNumber,
} as const;

const TRIED = {
  ...DELIVERY,
  /** HTTP status of the answer; 0 when there was none. */
  status: number,
  durationMs: number,
} as const;

/** Events about deliveries of callbacks. Their slot is 0. */
export const CALLBACK_EVENTS = {
  /** The receiver accepted the message. */
  callback_delivered: { number: 40, version: 1, fields: TRIED },

  /** One try to deliver failed. */
  callback_failed: {
    number: 41,
    version: 1,
    fields: {
      ...TRIED,
      /** The number of the failure. */
      failure: byte,
      /** When the next try is due; 0 when the delivery was given up. */
      nextAt: number,
    },
  },

  /** A delivery that was given up, or waits for its next try, is tried again at once. */
  callback_redelivered: { number: 42, version: 1, fields: DELIVERY },

  /** A delivery that was given up is forgotten, because there are too many. */
  callback_dropped: { number: 43, version: 1, fields: DELIVERY },
} as const satisfies Record<string, EventDeclaration>;
