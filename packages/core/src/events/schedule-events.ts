import { byte, type EventDeclaration, flag, hiddenPayload, number, text } from './fields.ts';

/**
 * Events about schedules. `slot` is the place of the schedule, `task` its number, which comes from
 * the same sequence as the numbers of tasks.
 */
export const SCHEDULE_EVENTS = {
  /** A schedule was created or replaced. */
  schedule_put: {
    number: 90,
    version: 1,
    fields: {
      namespace: text,
      name: text,
      /** Name, settings and input, one behind the other. */
      definition: hiddenPayload,
      nameBytes: number,
      settingsBytes: number,
      /** Counts the changes of the schedule. */
      revision: number,
      /** The next time, and when its timer is due; 0 for none. */
      nextAt: number,
      timerAt: number,
      /** The first time of a fixed rate. */
      anchor: number,
      /** What it waits for after a fire. */
      wait: byte,
      /** From the end of the last one to the next time, for a fixed delay. */
      delayMs: number,
      /** Whether it waits for the end of what it made last. */
      isBlocked: flag,
      replicas: number,
      paused: flag,
      hasPlaceholders: flag,
    },
  },

  /** It was paused or resumed. */
  schedule_changed: {
    number: 91,
    version: 1,
    fields: { revision: number, paused: flag, nextAt: number, timerAt: number },
  },

  schedule_removed: { number: 92, version: 1, fields: {} },

  /** A time came, or a person asked. Without `made`, `reason` says why nothing was made. */
  schedule_fired: {
    number: 93,
    version: 1,
    fields: {
      cause: byte,
      reason: byte,
      scheduledAt: number,
      /** Number of the task or run that was made; 0 for none. */
      made: number,
      isRun: flag,
      nextAt: number,
      timerAt: number,
      delayMs: number,
      /** Missed times in a row that were run later. */
      missed: number,
      /** Place among the replicas plus one; 0 for other causes. */
      replica: number,
      backfill: number,
    },
  },

  /** There was no room for what it makes: it tries again at `timerAt`. */
  schedule_delayed: {
    number: 94,
    version: 1,
    fields: { reason: byte, timerAt: number, backfill: number },
  },

  /** Fires at the times of a past range, at a limited rate. */
  backfill_started: {
    number: 95,
    version: 1,
    fields: {
      backfill: number,
      /** Its first time, and the last one that counts. */
      nextTime: number,
      until: number,
      ratePer1000Sec: number,
    },
  },

  backfill_ended: { number: 96, version: 1, fields: { backfill: number } },

  /** Besides the time that the next fire stands for, this many were missed. */
  times_missed: { number: 97, version: 1, fields: { count: number } },
} as const satisfies Record<string, EventDeclaration>;
