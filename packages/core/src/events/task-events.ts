import { TASK_TEXTS, type TaskText } from '../task/task-texts.ts';
import {
  byte,
  claim,
  type EventDeclaration,
  type Field,
  flag,
  hiddenSparse,
  number,
  payload,
  reasonNumber,
  sparse,
  stateNumber,
  text,
} from './fields.ts';

/** The texts of a task, in the order of their list. */
const TEXTS = Object.fromEntries(
  Object.entries<object>(TASK_TEXTS).map(([name, text]) => [
    name,
    'isSecret' in text ? hiddenSparse : sparse,
  ]),
);

/**
 * Describes a task that enters memory. Empty texts stand for the default.
 *
 * Resources and constraints (`shape`) never change during the life of the task. So a lease need not
 * repeat them: replay finds in the task what its worker gave.
 */
export const TASK_DETAILS = {
  /** Key of its queue: the type, prefixed with the namespace unless that is the default. */
  taskType: text,
  priority: byte,
  ...(TEXTS as { readonly [Name in TaskText]: Field<'sparse'> }),
  input: payload,
} as const;

/** Bits of the field `fields` of `task_patched`. */
export const PATCHED_PRIORITY = 1;
export const PATCHED_RUN_AT = 2;
export const PATCHED_INPUT = 4;
export const PATCHED_TIMEOUTS = 8;
export const PATCHED_TAGS = 16;

/** Events about a task as a whole. */
export const TASK_EVENTS = {
  /** A task was accepted. It is at the tail of its level, or waits for its time. */
  task_submitted: {
    number: 1,
    version: 1,
    fields: {
      /** When it may run; 0 for immediately. */
      runAt: number,
      dedupe: claim,
      ...TASK_DETAILS,
    },
  },

  /** A task that ended and left memory runs again, from the tail of its level. */
  task_readmitted: {
    number: 11,
    version: 1,
    fields: {
      submittedAt: number,
      /** Value of the `dedupe` column: the entry of its dedupe key plus one, or 0. */
      dedupe: number,
      ...TASK_DETAILS,
    },
  },

  /** A waiting task is due. It goes to the tail of its level. */
  task_due: { number: 9, version: 1, fields: {} },

  /**
   * A task ended, from any state, by something other than its worker's report of success or
   * failure.
   */
  task_ended: {
    number: 15,
    version: 1,
    fields: {
      /** Start of the attempt that it ends, as in `attempt_succeeded`. */
      startedAt: number,
      /** The terminal state. */
      state: stateNumber,
      reason: reasonNumber,
      /** The kind of report that ended it; 0 without one. */
      answer: byte,
      /** Key of the request that ended it from outside, to detect a repeat; 0 without one. */
      key: number,
      /** Whether `payload` replaces the task's result. */
      hasPayload: flag,
      payload,
    },
  },

  /** A task without a lease was changed. Only fields whose bit is set are meaningful. */
  task_patched: {
    number: 16,
    version: 1,
    fields: {
      fields: byte,
      priority: byte,
      /** 0 for immediately. */
      runAt: number,
      timeouts: text,
      tags: text,
      input: payload,
    },
  },

  task_paused: { number: 17, version: 1, fields: {} },

  /** The task waits for its time again, or is at the head of its level. */
  task_resumed: { number: 18, version: 1, fields: {} },

  /** A task that ended runs again, with all its attempts, from the tail of its level. */
  task_retried: {
    number: 19,
    version: 1,
    fields: {
      /** The redrive that retried the task; 0 when a client retried it. */
      redrive: number,
    },
  },

  /** A dead letter becomes an ordinary finished task. */
  dead_letter_dropped: {
    number: 20,
    version: 1,
    fields: {
      /** True when there were too many, false when an operator discarded it. */
      isOverflow: flag,
    },
  },

  /** A finished task left memory. */
  task_forgotten: { number: 8, version: 1, fields: {} },
} as const satisfies Record<string, EventDeclaration>;
