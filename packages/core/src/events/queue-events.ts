import { type EventDeclaration, flag, number, text } from './fields.ts';

/** Events about queues, task types and redrives. Slot and task are 0. */
export const QUEUE_EVENTS = {
  queue_changed: { number: 21, version: 1, fields: { taskType: text, paused: flag } },

  task_type_changed: {
    number: 22,
    version: 1,
    fields: {
      taskType: text,
      /** The text of the definition; empty when it was removed. */
      definition: text,
    },
  },

  redrive_started: {
    number: 23,
    version: 1,
    fields: {
      redrive: number,
      namespace: text,
      /** Key of the redrive's only queue; empty for all queues of the namespace. */
      taskType: text,
      /** Tasks per 1,000 seconds, so that rates below one per second are whole numbers, too. */
      ratePer1000Sec: number,
    },
  },

  redrive_ended: { number: 24, version: 1, fields: { redrive: number } },
} as const satisfies Record<string, EventDeclaration>;
