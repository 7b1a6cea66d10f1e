import { type Static, Type } from 'typebox';
import { exactlyOne, notWith } from '../base/documented.ts';
import { LIMITS } from '../base/limits.ts';
import { RunRequest } from './run-schemas.ts';
import { ScheduleSpec } from './schedule-spec-schemas.ts';
import { ListQuery } from './task-operation-schemas.ts';
import { GivenTime, TaskRequest, TaskType } from './task-schemas.ts';
import { WorkflowName } from './workflow-schemas.ts';

const ScheduleId = Type.String({
  // No address can name one that is only dots.
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._:-]{1,128}$',
  allowed:
    '1 to 128 letters A to Z or a to z, digits and . _ : - without spaces, such as nightly-report',
  description: 'Id of a schedule, chosen by its author: letters, digits and . _ : - , at most 128.',
  examples: ['nightly-report'],
});

export const ScheduleParams = Type.Object({ id: ScheduleId });
export type ScheduleParams = Static<typeof ScheduleParams>;

/** The fields of a task that a schedule may set. */
export const ScheduledTask = Type.Pick(TaskRequest, [
  'type',
  'input',
  'exec',
  'priority',
  'resources',
  'constraints',
  'placement',
  'retry',
  'timeouts',
  'tags',
  'callback',
]);

export const ScheduledRun = Type.Pick(RunRequest, [
  'workflow',
  'version',
  'input',
  'priority',
  'correlationId',
  'tags',
]);

const CHOICES = {
  window: Type.Optional(
    Type.Object(
      { from: Type.Optional(GivenTime), to: Type.Optional(GivenTime) },
      { additionalProperties: false, description: 'Outside of it nothing fires.' },
    ),
  ),
  misfire: Type.Optional(
    Type.Union([Type.Literal('skip'), Type.Literal('once'), Type.Literal('all')], {
      default: 'once',
      description:
        'What happens with times that were missed by more than 10 seconds, as after an outage: ' +
        'nothing, one fire for the latest of them, or all of them, the oldest first.',
    }),
  ),
  misfireMax: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: 'With `misfire: "all"`: at most this many missed times are run.',
    }),
  ),
  overlap: Type.Optional(
    Type.Union(
      [
        Type.Literal('allow'),
        Type.Literal('skip'),
        Type.Literal('queue'),
        Type.Literal('cancelPrevious'),
      ],
      {
        default: 'allow',
        description:
          'What happens at a time while the last one still runs: both run, this time is skipped, ' +
          'it waits for its turn, or the last one is cancelled.',
      },
    ),
  ),
  jitterMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      default: 0,
      description: 'Each fire is delayed by a random time up to this.',
    }),
  ),
  paused: Type.Optional(Type.Boolean({ default: false })),
  tags: TaskRequest.properties.tags,
};

/** A schedule adds tags to what it makes, whose names begin with `sluice.`. */
const ROOM_FOR_TAGS = {
  properties: { tags: { maxProperties: 30, patternProperties: { '^sluice\\.': { not: {} } } } },
};

/** A schedule keeps no blobs. */
const TEXTS_ONLY = {
  properties: {
    exec: { properties: { files: { additionalProperties: { type: 'string' } } } },
  },
};

const IS_PERMANENT = { properties: { spec: { required: ['permanent'] } } };
const NOT_ALL_MISSED = {
  not: { required: ['misfire'], properties: { misfire: { const: 'all' } } },
};

export const ScheduleRequest = Type.Object(
  {
    spec: ScheduleSpec,
    task: Type.Optional(
      Type.Unsafe<Static<typeof ScheduledTask>>({
        ...ScheduledTask,
        additionalProperties: false,
        description:
          'The task that it submits. In strings of its input and of exec {{scheduledAt}}, ' +
          '{{firedAt}}, {{scheduleId}} and {{fireNumber}} are replaced.',
        // A task with `exec` gets its type before the schema is asked.
        documented: {
          required: undefined,
          ...exactlyOne('type', 'exec'),
          allOf: [ROOM_FOR_TAGS, TEXTS_ONLY],
        },
      }),
    ),
    run: Type.Optional(
      Type.Unsafe<Static<typeof ScheduledRun>>({
        ...ScheduledRun,
        additionalProperties: false,
        description: 'The run that it starts, instead of a task.',
        documented: { allOf: [ROOM_FOR_TAGS] },
      }),
    ),
    ...CHOICES,
  },
  {
    additionalProperties: false,
    examples: [
      { spec: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }, task: { type: 'report' } },
    ],
    documented: {
      ...exactlyOne('task', 'run'),
      allOf: [
        ...notWith(IS_PERMANENT, 'window', 'misfire', 'overlap', 'jitterMs'),
        ...notWith(NOT_ALL_MISSED, 'misfireMax'),
      ],
    },
  },
);
export type ScheduleRequest = Static<typeof ScheduleRequest>;

/** A JSON merge patch; the result is checked as a whole. */
export const SchedulePatch = Type.Object(
  Object.fromEntries(
    ['spec', 'task', 'run', ...Object.keys(CHOICES)].map((name) => [
      name,
      Type.Optional(Type.Unknown()),
    ]),
  ),
  {
    additionalProperties: false,
    description: 'A JSON merge patch of a schedule: absent fields stay, null clears.',
    examples: [{ spec: { replicas: 3 } }],
  },
);

export const PutScheduleQuery = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        default: 'false',
        description: 'Checks it and says when it would fire, without a change.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Moment = Type.String({ format: 'date-time' });
const MomentOrNull = Type.Union([Moment, Type.Null()]);

const ScheduleState = Type.Union([
  Type.Literal('active'),
  Type.Literal('paused'),
  Type.Literal('completed'),
]);

export const FireReason = Type.Union([
  Type.Literal('on_time'),
  Type.Literal('misfire'),
  Type.Literal('overlap'),
  Type.Literal('no_room'),
  Type.Literal('quota_exceeded'),
  Type.Literal('workflow_not_found'),
  Type.Literal('unfit_input'),
]);

const Made = Type.Object({
  taskId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
});

export const ScheduleView = Type.Object({
  id: ScheduleId,
  state: ScheduleState,
  revision: Type.Integer({ description: 'Counts the changes of the schedule.' }),
  ...ScheduleRequest.properties,
  paused: Type.Boolean(),
  createdAt: Moment,
  changedAt: Moment,
  nextFireAt: Type.Union([Moment, Type.Null()], {
    description: 'Null when it is paused, waits for the end of the last one, or has completed.',
  }),
  lastFireAt: MomentOrNull,
  fireCount: Type.Integer({ description: 'Fires that made a task or run.' }),
  skipCount: Type.Integer({ description: 'Times that made nothing.' }),
  lastSkip: Type.Union([Type.Object({ scheduledAt: Moment, reason: FireReason }), Type.Null()]),
  running: Type.Array(Made, {
    description: 'What it made last, or its replicas, as far as they have not ended.',
  }),
  backfill: Type.Union([
    Type.Object({
      nextTime: MomentOrNull,
      until: Moment,
      ratePerSec: Type.Number(),
      done: Type.Integer(),
    }),
    Type.Null(),
  ]),
});
export type ScheduleView = Static<typeof ScheduleView>;

export const ScheduleChange = Type.Object({
  id: ScheduleId,
  change: Type.Union([
    Type.Literal('created'),
    Type.Literal('replaced'),
    Type.Literal('unchanged'),
    Type.Literal('deleted'),
  ]),
  dryRun: Type.Boolean(),
  nextFires: Type.Array(Moment, { description: 'The next times, at most five.' }),
});
export type ScheduleChange = Static<typeof ScheduleChange>;

export const ScheduleListQuery = Type.Object(
  {
    ...ListQuery.properties,
    state: Type.Optional(ScheduleState),
    type: Type.Optional(TaskType),
    workflow: Type.Optional(WorkflowName),
    q: Type.Optional(Type.String({ maxLength: 128, description: 'Text in the id.' })),
    nextBefore: Type.Optional(GivenTime),
    nextAfter: Type.Optional(GivenTime),
  },
  { additionalProperties: false, description: 'Filter by a tag with tag.NAME=VALUE.' },
);
export type ScheduleListQuery = Static<typeof ScheduleListQuery>;

export const PreviewQuery = Type.Object(
  {
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
    after: Type.Optional(GivenTime),
  },
  { additionalProperties: false },
);

export const Preview = Type.Object({ items: Type.Array(Type.Object({ at: Moment })) });
export type Preview = Static<typeof Preview>;

export const BackfillRequest = Type.Object(
  {
    from: GivenTime,
    to: GivenTime,
    ratePerSec: Type.Optional(Type.Number({ minimum: 0.001, maximum: 1000, default: 10 })),
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  },
  {
    additionalProperties: false,
    examples: [{ from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z', dryRun: true }],
  },
);
export type BackfillRequest = Static<typeof BackfillRequest>;

export const BackfillAnswer = Type.Object({
  count: Type.Integer({ description: 'Times in the range.' }),
  isComplete: Type.Boolean({ description: 'False when there are more than were counted.' }),
  first: MomentOrNull,
  last: MomentOrNull,
  dryRun: Type.Boolean(),
});
export type BackfillAnswer = Static<typeof BackfillAnswer>;

export const FireView = Type.Object({
  scheduledAt: Moment,
  firedAt: Moment,
  ...Made.properties,
  status: Type.String({ description: 'State of the task, or status of the run.' }),
  endedAt: MomentOrNull,
});
export type FireView = Static<typeof FireView>;

export const ScheduleExplanation = Type.Object({
  state: Type.String(),
  summary: Type.String(),
  reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
});
export type ScheduleExplanation = Static<typeof ScheduleExplanation>;

export const ScheduleBatch = Type.Array(
  Type.Object(
    {
      op: Type.Union([Type.Literal('put'), Type.Literal('patch'), Type.Literal('delete')]),
      id: ScheduleId,
    },
    { additionalProperties: true },
  ),
  {
    minItems: 1,
    maxItems: LIMITS.batchSchedulesMax,
    examples: [
      [{ op: 'put', id: 'hourly', spec: { cron: '@hourly' }, task: { type: 'clean-up' } }],
    ],
  },
);

export const ScheduleBatchAnswer = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      ok: Type.Optional(Type.Literal(true)),
      change: Type.Optional(Type.String()),
      error: Type.Optional(
        Type.Object({
          code: Type.String(),
          message: Type.String(),
          details: Type.Optional(
            Type.Array(Type.Object({ path: Type.String(), problem: Type.String() })),
          ),
        }),
      ),
    }),
  ),
});
