import { type Static, Type } from 'typebox';
import { literals } from '../base/literals.ts';
import { idOf } from './id-schemas.ts';
import { Capacity, Labels, MeasuredView, TaskResources } from './resource-schemas.ts';
import { FLAG_TEXTS, ListQuery } from './task-operation-schemas.ts';
import { TaskDefinition, TaskType } from './task-schemas.ts';

export const TypeParams = Type.Object({ type: TaskType });
export type TypeParams = Static<typeof TypeParams>;

export const TaskTypeView = Type.Object({ type: TaskType, definition: TaskDefinition });

export const QueuePatch = Type.Object(
  { paused: Type.Boolean() },
  { additionalProperties: false, examples: [{ paused: true }] },
);

export const QueueView = Type.Object({
  type: TaskType,
  paused: Type.Boolean(),
  depth: Type.Integer({ description: 'Tasks that are ready and wait for a worker.' }),
  depthByPriority: Type.Array(Type.Integer(), {
    minItems: 9,
    maxItems: 9,
    description: 'The depth of each priority, from 0 to 8.',
  }),
  oldestAgeMs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'How long the oldest ready task has waited; null if there is none.',
  }),
  leased: Type.Integer({ description: 'Tasks that workers hold.' }),
  deadLetters: Type.Integer(),
  inPerSec: Type.Number({ description: 'Submitted tasks per second, over the last ten seconds.' }),
  outPerSec: Type.Number({ description: 'Ended tasks per second, over the last ten seconds.' }),
  workers: Type.Integer({ description: 'Connected workers that run the type.' }),
});
export type QueueView = Static<typeof QueueView>;

const WorkerType = Type.Object({
  type: TaskType,
  concurrency: Type.Optional(Type.Integer()),
  unavailable: Type.Optional(
    Type.String({ description: 'Why the worker takes none of this type for now.' }),
  ),
  leased: Type.Integer({ description: 'Tasks of this type that the worker holds.' }),
});

export const WorkerView = Type.Object({
  id: Type.String({ examples: ['w_1f0c6o7a2k9m3q5s8u4e'] }),
  name: Type.String(),
  version: Type.String(),
  types: Type.Array(WorkerType),
  labels: Labels,
  capacity: Capacity,
  used: Type.Unsafe<TaskResources>({
    ...TaskResources,
    description: 'What is reserved for the tasks that the worker holds.',
  }),
  measured: Type.Optional(MeasuredView),
  leaseMs: Type.Integer(),
  connected: Type.Boolean({ description: 'False while its connection is broken.' }),
  draining: Type.Boolean(),
  heardAt: Type.String({ format: 'date-time' }),
});
export type WorkerView = Static<typeof WorkerView>;

export const WorkerParams = Type.Object({ id: idOf('a worker', 'w_1f0c6o7a2k9m3q5s8u4e') });
export type WorkerParams = Static<typeof WorkerParams>;

const Fingerprint = Type.String({
  pattern: '^[0-9a-f]{12}$',
  allowed: '12 hexadecimal digits in lower case, such as 3f9a0c1d2e4b',
  description: 'Fingerprint of an error, from `GET /v1/dead-letters/groups`.',
  examples: ['3f9a0c1d2e4b'],
});

export const DeadLetterQuery = Type.Object(
  {
    ...ListQuery.properties,
    type: Type.Optional(TaskType),
    fingerprint: Type.Optional(Fingerprint),
  },
  { additionalProperties: false },
);

export const DeadLetterGroupQuery = Type.Object(
  { type: Type.Optional(TaskType) },
  { additionalProperties: false },
);

export const DeadLetterGroup = Type.Object({
  fingerprint: Type.String({
    description: 'The same for errors that differ only in numbers, ids and quoted words.',
    examples: ['3f9a0c1d2e4b'],
  }),
  type: TaskType,
  count: Type.Integer(),
  message: Type.String({ description: 'Error message of the task that ended last.' }),
  taskId: Type.String({ description: 'The task that ended last.' }),
  firstEndedAt: Type.String({ format: 'date-time' }),
  lastEndedAt: Type.String({ format: 'date-time' }),
  endedByHour: Type.Array(Type.Integer(), {
    description: 'Tasks that ended in each of the last 24 hours, the current hour last.',
  }),
});

export const DeadLetterGroups = Type.Object({
  items: Type.Array(DeadLetterGroup, { description: 'Largest group first.' }),
  others: Type.Integer({ description: 'Dead letters that are in none of these groups.' }),
  isComplete: Type.Boolean({
    description: 'False if there are too many: then the oldest were not counted.',
  }),
});

const DryRun = Type.Optional(
  Type.Boolean({ default: false, description: 'Only counts, and changes nothing.' }),
);

export const DeadLetterFilter = Type.Object(
  { type: Type.Optional(TaskType), fingerprint: Type.Optional(Fingerprint) },
  { additionalProperties: false, description: 'Without a type: all types.' },
);

export const RedriveRequest = Type.Object(
  {
    filter: Type.Optional(DeadLetterFilter),
    ratePerSec: Type.Optional(
      Type.Number({
        minimum: 0.001,
        maximum: 100_000,
        description:
          'Tasks per second, by default 100. With a fingerprint there is no default: without a ' +
          'rate all run again immediately, and with one they leave the dead letters and each ' +
          'waits for its `runAt`, which counts towards `timeouts.totalMs`.',
      }),
    ),
    dryRun: DryRun,
  },
  {
    additionalProperties: false,
    examples: [{ filter: { type: 'transcode' }, ratePerSec: 10 }],
  },
);

export const RedriveReply = Type.Object({
  id: Type.Union([Type.String({ examples: ['d_1'] }), Type.Null()], {
    description:
      'Null if no redrive is running: all run again or wait for their times, or it was a dry run.',
  }),
  count: Type.Integer({ description: 'Dead letters that will run again.' }),
  dryRun: Type.Boolean(),
});

export const RedriveView = Type.Object({
  id: Type.String(),
  type: Type.Union([TaskType, Type.Null()]),
  ratePerSec: Type.Number(),
  startedAt: Type.String({ format: 'date-time' }),
  done: Type.Integer({ description: 'Dead letters that it has run again so far.' }),
});

export const RedriveParams = Type.Object({ id: idOf('a redrive', 'd_1') });
export type RedriveParams = Static<typeof RedriveParams>;

export const DiscardRequest = Type.Object(
  { filter: Type.Optional(DeadLetterFilter), dryRun: DryRun },
  { additionalProperties: false },
);

export const DiscardReply = Type.Object({
  matched: Type.Integer({ description: 'Dead letters that match.' }),
  discarded: Type.Integer(),
  dryRun: Type.Boolean(),
});

export const StatsQuery = Type.Object(
  {
    window: Type.Optional(
      Type.Union([Type.Literal('10m'), Type.Literal('24h'), Type.Literal('30d')], {
        default: '10m',
        description: 'One point per second (10m), per minute (24h) or per hour (30d).',
      }),
    ),
    follow: Type.Optional(
      literals(FLAG_TEXTS, {
        description:
          'Answer with events: stats with all points, then points with those that are new or ' +
          'have grown, every second.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Count = Type.Integer({ minimum: 0 });
const Quantile = Type.Union([Type.Number(), Type.Null()]);

export const StatsPoint = Type.Object({
  at: Type.String({ format: 'date-time', description: 'The start of the interval.' }),
  in: Count,
  out: Count,
  failed: Type.Integer({ description: 'Ended tasks that failed, timed out or expired.' }),
  running: Type.Integer({ description: 'Highest number at once.' }),
  depth: Type.Array(Count, { description: 'Highest number of queued tasks, by priority.' }),
  latencyMs: Type.Object(
    { p50: Quantile, p99: Quantile },
    { description: 'From submit to end, as the upper bound of a bucket; null if no task ended.' },
  ),
});

export const StatsView = Type.Object({
  window: Type.String(),
  stepMs: Type.Integer({ description: 'The length of an interval.' }),
  items: Type.Array(StatsPoint, {
    description: 'Oldest first; intervals in which the server was down are missing.',
  }),
});
