import { type Static, Type } from 'typebox';

export const CalendarQuery = Type.Object(
  {
    window: Type.Optional(
      Type.Union([Type.Literal('24h'), Type.Literal('30d')], {
        default: '24h',
        description: 'A count for each quarter of an hour (24h), or for each hour (30d).',
      }),
    ),
  },
  { additionalProperties: false },
);

export const ScheduleCalendar = Type.Object({
  from: Type.String({ format: 'date-time' }),
  stepMs: Type.Integer({ description: 'The length of an interval.' }),
  counts: Type.Array(Type.Integer(), { description: 'Times in each interval, from `from` on.' }),
  isComplete: Type.Boolean({
    description: 'False when there are too many schedules or times to count all of them.',
  }),
});
export type ScheduleCalendar = Static<typeof ScheduleCalendar>;
