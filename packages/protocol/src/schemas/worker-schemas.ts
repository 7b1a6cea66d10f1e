import { type Static, Type } from 'typebox';
import { notTogether } from '../base/documented.ts';
import { LIMITS } from '../base/limits.ts';
import { BlobHash } from './blob-schemas.ts';
import { SessionId } from './id-schemas.ts';
import { Capacity, Labels, MeasuredUse } from './resource-schemas.ts';
import { GivenTime, TaskType } from './task-schemas.ts';
import { TaskError, Usage } from './task-view-schemas.ts';

const Lease = Type.String({
  maxLength: 128,
  description: 'Opaque: the lease that arrived with the task.',
});

const OfferedType = Type.Object(
  {
    type: TaskType,
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.slotsMax,
        description: 'Maximum number of this type at once; by default limited only by capacity.',
      }),
    ),
    unavailable: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Why the worker takes none of this type for now. `explain` shows it.',
        examples: ['the container engine does not answer'],
      }),
    ),
  },
  { additionalProperties: false },
);

export const OfferedTypes = Type.Array(OfferedType, {
  minItems: 1,
  maxItems: LIMITS.typesPerWorkerMax,
});

export const WorkerSessionRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128, examples: ['laptop-1'] }),
    version: Type.Optional(Type.String({ maxLength: 128, examples: ['1.4.0'] })),
    types: OfferedTypes,
    capacity: Type.Optional(Capacity),
    labels: Type.Optional(Labels),
    leaseMs: Type.Optional(
      Type.Integer({
        minimum: LIMITS.leaseMsMin,
        maximum: LIMITS.leaseMsMax,
        default: LIMITS.leaseMsDefault,
        description:
          'Time without a request after which the tasks of the session go to other workers.',
      }),
    ),
    resume: Type.Optional(
      Type.Object(
        {
          sessionId: SessionId,
          running: Type.Array(Lease, {
            maxItems: LIMITS.slotsMax,
            description: 'Every lease that arrived and whose final report has not been answered.',
          }),
          number: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: LIMITS.numberMax,
              description:
                'Higher at each resume of the session. A resume that arrives after a later one ' +
                'is then refused, so that it cannot undo the later one.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, examples: [{ name: 'laptop-1', types: [{ type: 'hello' }] }] },
);
export type WorkerSessionRequest = Static<typeof WorkerSessionRequest>;

export const SessionParams = Type.Object({ sessionId: SessionId });
export type SessionParams = Static<typeof SessionParams>;

const Started = Type.Object(
  { lease: Lease, kind: Type.Literal('started') },
  { additionalProperties: false },
);

const Heartbeat = Type.Object(
  { lease: Lease, kind: Type.Literal('heartbeat') },
  { additionalProperties: false },
);

const StartedAt = Type.Optional(
  Type.Unsafe<string | number>({
    ...GivenTime,
    description: 'When the attempt started, if `started` was not reported.',
  }),
);

const Progress = Type.Object(
  {
    lease: Lease,
    kind: Type.Literal('progress'),
    fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    message: Type.Optional(Type.String({ maxLength: 1000 })),
  },
  { additionalProperties: false },
);

const Log = Type.Object(
  {
    lease: Lease,
    kind: Type.Literal('log'),
    seq: Type.Integer({
      minimum: 1,
      maximum: LIMITS.numberMax,
      description: 'Number of this report within the attempt. A repeated number is ignored.',
    }),
    lines: Type.Array(Type.String({ maxLength: LIMITS.logLineLengthMax }), {
      minItems: 1,
      maxItems: LIMITS.logLinesMax,
    }),
  },
  {
    additionalProperties: false,
    description: 'Log lines. About the last MiB per attempt is kept.',
  },
);

const Cancelled = Type.Object(
  {
    lease: Lease,
    kind: Type.Literal('cancelled'),
    startedAt: StartedAt,
    usage: Type.Optional(Usage),
  },
  { additionalProperties: false },
);

const Later = Type.Object(
  { lease: Lease, kind: Type.Literal('later'), startedAt: StartedAt },
  { additionalProperties: false },
);

const Succeeded = Type.Object(
  {
    lease: Lease,
    kind: Type.Literal('succeeded'),
    output: Type.Optional(Type.Unknown({ description: 'Any JSON up to 256 KiB. Default null.' })),
    outputBlob: Type.Optional(BlobHash),
    startedAt: StartedAt,
    usage: Type.Optional(Usage),
  },
  { additionalProperties: false, documented: notTogether(['output', 'outputBlob']) },
);

const Failed = Type.Object(
  {
    lease: Lease,
    kind: Type.Literal('failed'),
    error: TaskError,
    retryable: Type.Optional(
      Type.Boolean({ default: true, description: 'False if the task should not be retried.' }),
    ),
    retryAfterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: LIMITS.delayMsMax })),
    startedAt: StartedAt,
    usage: Type.Optional(Usage),
  },
  { additionalProperties: false },
);

const Refused = Type.Object(
  { lease: Lease, kind: Type.Literal('refused') },
  {
    additionalProperties: false,
    description:
      'The worker does not accept the task. No attempt is spent, and the worker does not get ' +
      'the task again for one second.',
  },
);

/** One schema per kind of report. */
export const REPORT_SCHEMAS = {
  started: Started,
  heartbeat: Heartbeat,
  progress: Progress,
  log: Log,
  succeeded: Succeeded,
  failed: Failed,
  cancelled: Cancelled,
  later: Later,
  refused: Refused,
} as const;

export type ReportRequest =
  | Static<typeof Started>
  | Static<typeof Heartbeat>
  | Static<typeof Progress>
  | Static<typeof Log>
  | Static<typeof Cancelled>
  | Static<typeof Later>
  | Static<typeof Succeeded>
  | Static<typeof Failed>
  | Static<typeof Refused>;

export const ReportsRequest = Type.Object(
  {
    reports: Type.Optional(
      Type.Array(Type.Union(Object.values(REPORT_SCHEMAS)), {
        maxItems: LIMITS.reportsMax,
        description: 'Applied in order. An empty list is a heartbeat.',
      }),
    ),
    capacity: Type.Optional(Capacity),
    types: Type.Optional(
      Type.Unsafe<Static<typeof OfferedTypes>>({
        ...OfferedTypes,
        description: 'Everything that the worker runs; it replaces the earlier types.',
      }),
    ),
    measured: Type.Optional(MeasuredUse),
  },
  { additionalProperties: false },
);

export const ReportsReply = Type.Object({
  outcomes: Type.Array(
    Type.Union([Type.Literal('ok'), Type.Literal('duplicate'), Type.Literal('stale_lease')]),
    { description: 'One per report, in order.' },
  ),
});
