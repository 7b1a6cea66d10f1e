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
      /** When the worker says it started; 0 when the start is already known or was not reported. */
      startedAt: number,
      output: payload,
    },
  },

  /** What the attempt used, as its worker measured it. Its end follows. */
  attempt_used: {
    number: 105,
    version: 1,
    fields: {
      /** Which of the figures were measured: bit 0 for the first, and so on. */
      measured: byte,
      wallMs: number,
      cpuMs: number,
      memoryPeakBytes: number,
      readBytes: number,
      writtenBytes: number,
    },
  },

  /** The handler returned and the task is ended from outside. The task has no lease. */
  attempt_deferred: { number: 12, version: 1, fields: { startedAt: number } },

  /** The worker is asked to stop. If it still holds the lease at `stopAt`, the lease is revoked. */
  attempt_stopping: {
    number: 13,
    version: 1,
    fields: { reason: reasonNumber, stopAt: number },
  },

  /** An attempt failed. The task waits for the next attempt, or fails. */
  attempt_failed: {
    number: 5,
    version: 1,
    fields: {
      startedAt: number,
      /** The kind of report that ended the attempt. */
      answer: byte,
      /** When the next attempt is due; 0 when there is none. */
      retryAt: number,
      error: payload,
    },
  },

  /** An attempt took too long. The task waits for the next attempt, or ends as timed out. */
  attempt_timed_out: {
    number: 14,
    version: 1,
    fields: {
      startedAt: number,
      reason: reasonNumber,
      /** The kind of report that arrived during the grace period; 0 when the lease was revoked. */
      answer: byte,
      retryAt: number,
      error: payload,
    },
  },

  /** A lease ended without an answer. The task returns to the head of its level, or waits. */
  attempt_returned: {
    number: 6,
    version: 1,
    fields: {
      reason: reasonNumber,
      /** False when the attempt does not count, for example when the worker never received it. */
      spent: flag,
      /** When the next attempt is due; 0 for the head of its level at once. */
      retryAt: number,
    },
  },

  /** The lease of the last attempt ended without an answer: the task failed. */
  attempts_exhausted: { number: 7, version: 1, fields: { reason: reasonNumber } },
} as const satisfies Record<string, EventDeclaration>;
