import { type Static, Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { ListQuery } from './task-operation-schemas.ts';

const CallbackId = Type.String({
  description: 'Id of the callback; sent as `webhook-id` in every try.',
  examples: ['c_0000000001'],
});
const ChangeType = Type.String({
  description: 'Which change of the task or run it is about, or run.callback for a CALLBACK step.',
  examples: ['task.succeeded'],
});
const Time = Type.String({ format: 'date-time' });
const MaybeTime = Type.Union([Time, Type.Null()]);
const Failure = Type.Union([Type.String(), Type.Null()], {
  description: 'Failure of the last try; null if there was none.',
  examples: ['timed_out'],
});
const Status = Type.Union([Type.Integer(), Type.Null()], {
  description: 'HTTP status of the answer; null if there was none.',
});

export const TaskCallbacks = Type.Object({
  items: Type.Array(
    Type.Object({
      id: CallbackId,
      type: ChangeType,
      at: Time,
      outcome: literals(['delivered', 'failed', 'given_up', 'redelivered', 'dropped']),
      status: Status,
      failure: Failure,
      durationMs: Type.Integer(),
      nextAt: MaybeTime,
    }),
    { description: 'Oldest first. If there are very many, only the newest hundred.' },
  ),
});

const CallbackState = Type.Union([Type.Literal('pending'), Type.Literal('given_up')]);

export const CallbackQuery = Type.Object(
  { ...ListQuery.properties, state: Type.Optional(CallbackState) },
  { additionalProperties: false },
);
export type CallbackQuery = Static<typeof CallbackQuery>;

export const CallbackView = Type.Object({
  id: CallbackId,
  taskId: Type.Union([Type.String(), Type.Null()], {
    description: 'The task that it is about; null for a run.',
  }),
  runId: Type.Union([Type.String(), Type.Null()], {
    description: 'The run that it is about; null for a task.',
  }),
  type: ChangeType,
  url: Type.String(),
  state: CallbackState,
  changedAt: Time,
  tries: Type.Integer({ description: 'Failed tries since the last redelivery, if any.' }),
  status: Status,
  failure: Failure,
  nextAt: MaybeTime,
  givenUpAt: MaybeTime,
});
export type CallbackView = Static<typeof CallbackView>;

export const RedeliverRequest = Type.Object(
  {
    ids: Type.Optional(Type.Array(CallbackId, { minItems: 1, maxItems: LIMITS.batchTasksMax })),
  },
  {
    additionalProperties: false,
    description: 'Callbacks to try again now; without ids all that were given up.',
    examples: [{ ids: ['c_0000000001'] }],
  },
);

export const RedeliverReply = Type.Object({
  redelivered: Type.Integer(),
  unknown: Type.Array(CallbackId, { description: 'Unknown, or already delivered.' }),
});
