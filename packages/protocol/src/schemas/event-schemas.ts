import { Type } from 'typebox';
import { TaskStateName } from './task-view-schemas.ts';

/** The data of `change` on the stream of events. */
export const TaskChange = Type.Object({
  task: Type.String({ description: 'Id of the task.' }),
  type: Type.String({ description: 'Type of the task.' }),
  run: Type.Optional(
    Type.String({ description: 'Id of the run that the task is a step of. Absent for others.' }),
  ),
  from: Type.Union([TaskStateName, Type.Null()], { description: 'Null for a new task.' }),
  to: TaskStateName,
  reason: Type.String({ description: 'Why the task changed.' }),
  attempt: Type.Integer({ description: 'Attempts so far; 0 before the first.' }),
  at: Type.String({ format: 'date-time' }),
});

/** The data of `gap` on the stream of events. */
export const EventGap = Type.Object(
  {
    from: Type.Integer({ description: 'The first missing record of the log.' }),
    to: Type.Integer({ description: 'The first record that is available again.' }),
  },
  { description: 'Changes in these records of the log are no longer available.' },
);
