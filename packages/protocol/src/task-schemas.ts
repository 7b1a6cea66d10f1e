import { type Static, Type } from 'typebox';
import { LIMITS } from './limits.ts';

export const TaskType = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  description: 'Name that workers register for: letters, digits and . _ : - , at most 128.',
  examples: ['transcode'],
});

export const TaskRequest = Type.Object(
  {
    type: TaskType,
    input: Type.Optional(
      Type.Unknown({ description: 'Any JSON up to 256 KiB. Numbers are doubles. Default null.' }),
    ),
    priority: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 8, default: 4, description: '8 runs first.' }),
    ),
  },
  { additionalProperties: false, examples: [{ type: 'hello', input: { name: 'Ada' } }] },
);
export type TaskRequest = Static<typeof TaskRequest>;

export const TaskRequests = Type.Array(TaskRequest, {
  minItems: 1,
  maxItems: LIMITS.batchTasksMax,
});

export const SubmitQuery = Type.Object(
  {
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.waitMsMax,
        description:
          'Answer with the whole task when it ended or this time is up. Single task only.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type SubmitQuery = Static<typeof SubmitQuery>;

const TaskStateName = Type.Union(
  [
    'waiting',
    'blocked',
    'queued',
    'leased',
    'running',
    'paused',
    'succeeded',
    'failed',
    'timed_out',
    'expired',
    'cancelled',
  ].map((name) => Type.Literal(name)),
);

export const SubmittedTask = Type.Object({
  id: Type.String({ examples: ['t_0034d5ij3m00000001'] }),
  state: TaskStateName,
  deduplicated: Type.Boolean(),
});

export const SubmittedTasks = Type.Object({ items: Type.Array(SubmittedTask) });

const Time = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

const TaskError = Type.Object({
  message: Type.String(),
  code: Type.Optional(Type.String()),
  stack: Type.Optional(Type.String()),
});

const AttemptView = Type.Object({
  attempt: Type.Integer(),
  worker: Type.String(),
  leasedAt: Time,
  startedAt: Time,
  endedAt: Time,
  outcome: Type.Union([Type.String(), Type.Null()]),
});

export const TaskView = Type.Object({
  id: Type.String(),
  type: TaskType,
  state: TaskStateName,
  reason: Type.String({ description: 'Why the task is in this state.' }),
  priority: Type.Integer(),
  attempt: Type.Integer({ description: 'Attempts so far; 0 before the first.' }),
  attempts: Type.Array(AttemptView, { description: 'The newest attempt.' }),
  submittedAt: Time,
  endedAt: Time,
  input: Type.Unknown(),
  output: Type.Unknown(),
  error: Type.Union([TaskError, Type.Null()]),
});

export const TaskParams = Type.Object({ id: Type.String({ description: 'Id of a task.' }) });
export type TaskParams = Static<typeof TaskParams>;

export const WaitQuery = Type.Object(
  {
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: LIMITS.waitMsMax, default: LIMITS.waitMsDefault }),
    ),
  },
  { additionalProperties: false },
);
export type WaitQuery = Static<typeof WaitQuery>;
