import type { LeaseNumber, SessionId } from '../base/ids.ts';
import {
  branded,
  byte,
  type EventDeclaration,
  type Field,
  flag,
  number,
  payload,
  reasonNumber,
  text,
} from './fields.ts';

const session: Field<'text', SessionId> = { kind: 'text', dump: 'session' };

/** Events about one attempt of a task and its lease. */
export const ATTEMPT_EVENTS = {
  /** A session may run the next attempt of a task, until it is silent for `leaseMs`. */
  attempt_leased: {
    number: 2,
    version: 1,
    fields: {
      lease: branded<LeaseNumber>(),
      session,
      worker: text,
      leaseMs: number,
      /** The number of the session's newest resume; 0 without one. */
      resume: number,
    },
  },

  attempt_started: { number: 3, version: 1, fields: {} },

  attempt_succeeded: {
    number: 4,
    version: 1,
    fields: {
      /** When the worker says it started; 0 when it said so before, or nothing. */
      startedAt: number,
      output: payload,
    },
  },

  /** The worker is through and the end comes from outside. Nobody holds the task. */
  attempt_deferred: { number: 12, version: 1, fields: { startedAt: number } },

  /** The worker is asked to stop. If it still holds the task at `stopAt`, its lease is revoked. */
  attempt_stopping: {
    number: 13,
    version: 1,
    fields: { reason: reasonNumber, stopAt: number },
  },

  /** An attempt failed. The task waits for the next one, or failed too. */
  attempt_failed: {
    number: 5,
    version: 1,
    fields: {
      startedAt: number,
      /** The kind of report that said so. */
      answer: byte,
      /** When the next attempt is due; 0 when there is none. */
      retryAt: number,
      error: payload,
    },
  },

  /** An attempt took too long. The task waits for the next one, or timed out too. */
  attempt_timed_out: {
    number: 14,
    version: 1,
    fields: {
      startedAt: number,
      reason: reasonNumber,
      /** The kind of report that ended it in its last seconds; 0 when its lease was revoked. */
      answer: byte,
      retryAt: number,
      error: payload,
    },
  },

  /** A lease ended without an answer. The task goes to the head of its level. */
  attempt_returned: {
    number: 6,
    version: 1,
    fields: {
      reason: reasonNumber,
      /** False when that attempt does not count, as when the worker never had it. */
      spent: flag,
    },
  },

  /** A lease ended without an answer and it was the last attempt: the task failed. */
  attempts_exhausted: { number: 7, version: 1, fields: { reason: reasonNumber } },
} as const satisfies Record<string, EventDeclaration>;
