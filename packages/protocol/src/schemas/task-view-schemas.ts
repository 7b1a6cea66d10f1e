import { type Static, Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { BlobHash } from './blob-schemas.ts';
import { SHOWN_FIELDS, TaskType } from './task-schemas.ts';

export const TaskStateName = literals([
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
]);

export const SubmittedTask = Type.Object({
  id: Type.String({ examples: ['t_01k7f6b1oj0000000001'] }),
  state: TaskStateName,
  deduplicated: Type.Boolean(),
});

export const SubmittedTasks = Type.Object({ items: Type.Array(SubmittedTask) });

export const Time = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

export const TaskError = Type.Object(
  {
    message: Type.String(),
    code: Type.Optional(Type.String()),
    stack: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

const UsedBytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const UsedMs = Type.Integer({ minimum: 0, maximum: LIMITS.timeMsMax });

export const Usage = Type.Object(
  {
    wallMs: Type.Optional(UsedMs),
    cpuMs: Type.Optional(UsedMs),
    memoryPeakBytes: Type.Optional(UsedBytes),
    readBytes: Type.Optional(UsedBytes),
    writtenBytes: Type.Optional(UsedBytes),
  },
  {
    additionalProperties: false,
    description: 'What an attempt used, as far as its worker could measure it.',
  },
);
export type Usage = Static<typeof Usage>;

export const AttemptView = Type.Object({
  attempt: Type.Integer(),
  worker: Type.String(),
  leasedAt: Time,
  startedAt: Time,
  endedAt: Time,
  outcome: Type.Union([Type.String(), Type.Null()], {
    description: 'What the worker reported, or why the attempt ended without a report.',
  }),
  error: Type.Optional(TaskError),
  output: Type.Optional(
    Type.Unknown({
      description: 'Output of an attempt that succeeded although its task was cancelled.',
    }),
  ),
  outputBlob: Type.Optional(BlobHash),
  usage: Type.Optional(Usage),
});

export const TaskView = Type.Object({
  id: Type.String(),
  type: TaskType,
  state: TaskStateName,
  reason: Type.String({ description: 'Why the task is in this state.' }),
  ...SHOWN_FIELDS,
  attempt: Type.Integer({ description: 'Attempts so far; 0 before the first.' }),
  attempts: Type.Array(AttemptView, {
    description:
      'Oldest first. `GET /v1/tasks/{id}` has all of them, of very many the newest; other ' +
      'answers have at least the newest one. Numbers start at 1 again after a retry.',
  }),
  submittedAt: Time,
  runAt: Type.Unsafe<string | null>({
    ...Time,
    description: 'When a waiting task will be queued.',
  }),
  parentId: Type.Union([Type.String(), Type.Null()]),
  runId: Type.Optional(
    Type.String({ description: 'The run that it is a step of. Absent for other tasks.' }),
  ),
  step: Type.Optional(Type.String({ description: 'Reference of that step.' })),
  cancelRequestedAt: Type.Unsafe<string | null>({
    ...Time,
    description: 'When it was cancelled while a worker held it.',
  }),
  endedAt: Time,
  progress: Type.Union(
    [Type.Object({ fraction: Type.Number(), message: Type.String() }), Type.Null()],
    { description: 'Last progress that the worker reported.' },
  ),
  input: Type.Optional(Type.Unknown({ description: 'Absent if it is a blob.' })),
  inputBlob: Type.Optional(BlobHash),
  exec: Type.Optional(
    Type.Unknown({ description: 'What an agent runs, without secrets. Absent for other tasks.' }),
  ),
  output: Type.Optional(Type.Unknown({ description: 'Absent if it is a blob.' })),
  outputBlob: Type.Optional(BlobHash),
  error: Type.Union([TaskError, Type.Null()]),
});
export type TaskView = Static<typeof TaskView>;
