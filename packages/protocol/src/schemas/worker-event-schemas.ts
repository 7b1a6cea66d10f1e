/** The contents of the events on a worker's stream. `ping` and `drain` have none. */
import { type Static, Type } from 'typebox';
import { BlobHash } from './blob-schemas.ts';
import { TaskResources } from './resource-schemas.ts';

export const Welcome = Type.Object({
  sessionId: Type.String(),
  heartbeatMs: Type.Integer({ minimum: 1 }),
  leaseMs: Type.Integer({ minimum: 1 }),
  pingMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'An idle stream has a `ping` at least this often. A stream that is silent for three ' +
        'times as long is dead. Absent: 5 s.',
    }),
  ),
  resumed: Type.Boolean({ description: 'Whether the session still existed.' }),
  lost: Type.Array(Type.String(), {
    description: 'Leases in `running` that the worker no longer holds.',
  }),
});
export type Welcome = Static<typeof Welcome>;

export const PushedTask = Type.Object({
  id: Type.String(),
  type: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
  lease: Type.String(),
  resources: TaskResources,
  input: Type.Optional(Type.Unknown()),
  inputBlob: Type.Optional(BlobHash),
  exec: Type.Optional(Type.Unknown({ description: 'What to run, for tasks of an agent.' })),
  runTimeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  heartbeatTimeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  maxAttempts: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Attempts that the task may have. Absent: 3.' }),
  ),
});
export type PushedTask = Static<typeof PushedTask>;

export const CancelNotice = Type.Object({
  id: Type.String(),
  lease: Type.String(),
  graceMs: Type.Number({ minimum: 0 }),
  reason: Type.String(),
});
export type CancelNotice = Static<typeof CancelNotice>;

export const SignalNotice = Type.Object({
  id: Type.String(),
  lease: Type.String(),
  name: Type.String(),
  data: Type.Unknown(),
  key: Type.Optional(
    Type.String({
      description: 'Key of the call that sent it. The same key again for one lease is a resend.',
    }),
  ),
});
export type SignalNotice = Static<typeof SignalNotice>;
