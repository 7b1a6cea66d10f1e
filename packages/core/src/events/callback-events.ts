import { byte, type EventDeclaration, number, stateNumber } from './fields.ts';

const DELIVERY = {
  /** The number of the delivery. */
  delivery: number,
  /** The state that the task went to. */
  state: stateNumber,
} as const;

const TRIED = {
  ...DELIVERY,
  /** Of the answer; 0 when there was none. */
  status: number,
  durationMs: number,
} as const;

/** Events about deliveries of callbacks. Their slot is 0. */
export const CALLBACK_EVENTS = {
  /** The receiver has it. */
  callback_delivered: { number: 40, version: 1, fields: TRIED },

  /** One try to deliver failed. */
  callback_failed: {
    number: 41,
    version: 1,
    fields: {
      ...TRIED,
      /** What went wrong, as the number of a failure. */
      failure: byte,
      /** When it is tried next; 0 when it was given up. */
      nextAt: number,
    },
  },

  /** A delivery that was given up, or waits for its next try, is tried from now on. */
  callback_redelivered: { number: 42, version: 1, fields: DELIVERY },

  /** A delivery that was given up is forgotten: there are too many. */
  callback_dropped: { number: 43, version: 1, fields: DELIVERY },
} as const satisfies Record<string, EventDeclaration>;
