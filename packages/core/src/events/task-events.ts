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
 * What is said of a task when it comes into memory. Texts are empty for the default.
 *
 * Resources and constraints (`shape`) stay as they are for the whole life of the task, so that a
 * lease need not repeat them: replay finds in the task what its worker gave.
 */
const DETAILS = {
  /** Key of its queue: the type, with the namespace in front of it. */
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
  /** A task was accepted: it stands at the tail of its level, or waits for its time. */
  task_submitted: {
    number: 1,
    version: 1,
    fields: {
      /** When it may run; 0 for at once. */
      runAt: number,
      dedupe: claim,
      ...DETAILS,
    },
  },

  /** A task that had ended and left memory is back to run again, at the tail of its level. */
  task_readmitted: {
    number: 11,
    version: 1,
    fields: {
      submittedAt: number,
      /** As in the column of tasks: the entry of its dedupe key plus one, or 0. */
      dedupe: number,
      ...DETAILS,
    },
  },

  /** The time of a task that waited has come: it stands at the tail of its level. */
  task_due: { number: 9, version: 1, fields: {} },

  /** A task ended otherwise than by the word of its worker alone, from whatever state it was in. */
  task_ended: {
    number: 15,
    version: 1,
    fields: {
      /** Of the attempt that it ends, as in `attempt_succeeded`. */
      startedAt: number,
      /** The terminal state. */
      state: stateNumber,
      reason: reasonNumber,
      /** The kind of the report that came with it; 0 without one. */
      answer: byte,
      /** Of the request that ended it from outside, to know it again; 0 without one. */
      key: number,
      /** Whether `payload` replaces the result that the task has. */
      hasPayload: flag,
      payload,
    },
  },

  /** A task that nobody holds was changed. Only the fields whose bit is set mean anything. */
  task_patched: {
    number: 16,
    version: 1,
    fields: {
      fields: byte,
      priority: byte,
      /** 0 for at once. */
      runAt: number,
      timeouts: text,
      tags: text,
      input: payload,
    },
  },

  task_paused: { number: 17, version: 1, fields: {} },

  /** The task waits for its time again, or stands at the head of its level. */
  task_resumed: { number: 18, version: 1, fields: {} },

  /** A task that had ended runs again, with all its attempts, from the tail of its level. */
  task_retried: {
    number: 19,
    version: 1,
    fields: {
      /** The redrive that did it; 0 when somebody asked for this one. */
      redrive: number,
    },
  },

  /** A dead letter is a plain finished task from here on. */
  dead_letter_dropped: {
    number: 20,
    version: 1,
    fields: {
      /** True when there were too many, false when somebody discarded it. */
      isOverflow: flag,
    },
  },

  /** A finished task left memory. */
  task_forgotten: { number: 8, version: 1, fields: {} },
} as const satisfies Record<string, EventDeclaration>;
