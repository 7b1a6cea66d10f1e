import { Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';
import { GivenTime } from './task-schemas.ts';

export const CronSpec = Type.Object(
  {
    cron: Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Five fields (minute, hour, day of the month, month, day of the week), or six with ' +
        'seconds first, or @hourly, @daily, @weekly, @monthly, @yearly.',
      examples: ['0 3 * * *'],
    }),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 64,
        default: 'UTC',
        description: 'A time that clocks skip fires right after the gap.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  { additionalProperties: false },
);

export const EverySpec = Type.Object(
  {
    everyMs: Type.Integer({ minimum: 10, maximum: LIMITS.delayMsMax }),
    mode: Type.Optional(
      Type.Union([Type.Literal('fixedRate'), Type.Literal('fixedDelay')], {
        default: 'fixedRate',
        description: 'fixedDelay counts from the end of what the last fire made.',
      }),
    ),
    startAt: Type.Optional(GivenTime),
    allowFast: Type.Optional(
      Type.Boolean({ description: 'Allows periods below 100 ms.', default: false }),
    ),
  },
  {
    additionalProperties: false,
    documented: {
      oneOf: [
        { properties: { everyMs: { minimum: LIMITS.everyMsMin } } },
        {
          properties: {
            everyMs: { maximum: LIMITS.everyMsMin - 1 },
            allowFast: { const: true },
          },
          required: ['allowFast'],
        },
      ],
    },
  },
);

export const OnceSpec = Type.Object({ at: GivenTime }, { additionalProperties: false });

export const PermanentSpec = Type.Object(
  {
    permanent: Type.Literal(true),
    replicas: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.replicasMax,
        default: 1,
        description: 'This many always run. One that ends is started again.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const ScheduleSpec = Type.Union([CronSpec, EverySpec, OnceSpec, PermanentSpec], {
  allowed:
    '{cron, timeZone}, {everyMs, mode, startAt}, {at} or {permanent: true, replicas}, ' +
    'such as {"cron": "0 3 * * *", "timeZone": "Europe/Berlin"}',
  description: 'When it fires.',
});
