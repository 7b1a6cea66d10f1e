import type { Slot, TaskNumber } from '../base/ids.ts';
import { ACCESS_EVENTS } from './access-events.ts';
import { ATTEMPT_EVENTS } from './attempt-events.ts';
import { CALLBACK_EVENTS } from './callback-events.ts';
import type { EventDeclaration, Field } from './fields.ts';
import { PARTITION_EVENTS } from './partition-events.ts';
import { QUEUE_EVENTS } from './queue-events.ts';
import { RUN_EVENTS, STEP_TASK_EVENTS } from './run-events.ts';
import { SCHEDULE_EVENTS } from './schedule-events.ts';
import { TASK_EVENTS } from './task-events.ts';

/**
 * The facts that a partition's log holds, declared once. Replaying them restores the state (L1).
 * Types, blank objects, bytes and dumps are derived from this table.
 *
 * An event names its task by slot and number. The slot is where `apply` writes. The number
 * identifies the task, so that a log can be read without the state, and replay notices when the two
 * disagree. The time of an event is the time of its record.
 *
 * `emit` is done with an event when it returns. The objects are therefore reused; no object is
 * allocated per task.
 */
export const EVENTS = {
  ...TASK_EVENTS,
  ...STEP_TASK_EVENTS,
  ...ATTEMPT_EVENTS,
  ...QUEUE_EVENTS,
  ...ACCESS_EVENTS,
  ...CALLBACK_EVENTS,
  ...RUN_EVENTS,
  ...SCHEDULE_EVENTS,
  ...PARTITION_EVENTS,
} as const satisfies Record<string, EventDeclaration>;

export type EventType = keyof typeof EVENTS;

type ValueOf<F> = F extends Field<infer _, infer Value> ? Value : never;

type FieldsOf<T extends EventType> = (typeof EVENTS)[T]['fields'];

/** The event of one type. */
export type EventOf<T extends EventType> = {
  readonly type: T;
  slot: Slot;
  task: TaskNumber;
} & { -readonly [K in keyof FieldsOf<T>]: ValueOf<FieldsOf<T>[K]> };

export type Event = { [T in EventType]: EventOf<T> }[EventType];

/** The fields that describe a task that enters memory. */
export type TaskDetails = Omit<EventOf<'task_submitted'>, 'type' | 'dedupe' | 'runAt'>;

export type Emit = (event: Event) => void;
