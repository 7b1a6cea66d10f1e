import { type Static, type TSchema, Type } from 'typebox';
import { exactlyOne, notTogether } from '../base/documented.ts';
import { COMMAND_TYPE, CONTAINER_TYPE } from '../base/exec-types.ts';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { REQUEST_KEY_HEADER, REQUEST_WINDOW_HEADER } from '../base/request-key.ts';
import { DOCUMENTED_TIME_PATTERN } from '../base/time-pattern.ts';
import { BlobHash } from './blob-schemas.ts';
import { Exec } from './exec-schemas.ts';
import { TaskId } from './id-schemas.ts';
import { Constraints, Placement, TaskResources } from './resource-schemas.ts';

export const TaskType = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  allowed:
    '1 to 128 letters A to Z or a to z, digits and . _ : - without spaces, such as send-mail',
  description:
    'Name that workers register for: letters, digits and . _ : - , at most 128. ' +
    'Tasks with `exec` have the type command or container; no other task can have those.',
  examples: ['transcode'],
});

const DelayMs = Type.Integer({ minimum: 0, maximum: LIMITS.delayMsMax });

export const Retry = Type.Object(
  {
    maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 3 })),
    backoff: Type.Optional(
      Type.Union([Type.Literal('fixed'), Type.Literal('linear'), Type.Literal('exponential')], {
        default: 'exponential',
      }),
    ),
    delayMs: Type.Optional(
      Type.Integer({ ...DelayMs, default: 1000, description: 'Delay before the second attempt.' }),
    ),
    maxDelayMs: Type.Optional(
      Type.Integer({ ...DelayMs, default: 60_000, description: 'No delay is longer.' }),
    ),
    jitter: Type.Optional(
      Type.Boolean({ default: true, description: 'Adds up to a quarter to each delay.' }),
    ),
    delaysMs: Type.Optional(
      Type.Array(DelayMs, {
        minItems: 1,
        maxItems: 100,
        description:
          'A list of delays instead of the rule; the task has one attempt more than delays.',
      }),
    ),
  },
  {
    additionalProperties: false,
    documented: notTogether(
      ['delaysMs', 'maxAttempts'],
      ['delaysMs', 'backoff'],
      ['delaysMs', 'delayMs'],
      ['delaysMs', 'maxDelayMs'],
    ),
  },
);

const TimeoutMs = Type.Integer({ minimum: 1, maximum: LIMITS.delayMsMax });

function timeoutMs(description: string) {
  return Type.Integer({ ...TimeoutMs, description });
}

export const Timeouts = Type.Object(
  {
    queueMs: Type.Optional(timeoutMs('Time in the queue.')),
    runMs: Type.Optional(timeoutMs('Time of one attempt, from its lease.')),
    heartbeatMs: Type.Optional(timeoutMs('Time between two signs of life of a handler.')),
    totalMs: Type.Optional(timeoutMs('Time from the submit to the end.')),
  },
  {
    additionalProperties: false,
    description:
      'Maximum time in the queue, from the lease to the end, between heartbeats, and in ' +
      'total. Absent means no limit.',
  },
);

/** As a pattern, because `maxLength` is not checked for names. */
const TagName = Type.String({ pattern: '^[\\s\\S]{1,128}$' });

const TagValue = Type.String({ maxLength: 256 });

const TAG_NAMES = { allowedNames: '1 to 128 characters, such as customer' };

export const Tags = Type.Record(TagName, TagValue, {
  ...TAG_NAMES,
  maxProperties: 32,
  additionalProperties: false,
});

/** 24 to 64 bytes in base64. */
const SECRET_PATTERN =
  '^(?:whsec_)?(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?' +
  '|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$';

/** An address without a name and a password in it. */
const URL_PATTERN = '^https?://[^/?#@]+(?:[/?#]|$)';

export const Callback = Type.Object(
  {
    url: Type.String({
      pattern: '^https?://',
      allowed: 'an address with http:// or https://, such as https://example.com/hook',
      maxLength: 2048,
      documented: { format: 'uri', pattern: URL_PATTERN },
    }),
    on: Type.Array(
      literals(['running', 'succeeded', 'failed', 'timed_out', 'expired', 'cancelled']),
      { minItems: 1, maxItems: 6 },
    ),
    secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, documented: { pattern: SECRET_PATTERN } }),
    ),
  },
  {
    additionalProperties: false,
    description: 'URL to call, for which changes. The secret is never shown.',
  },
);

export const Priority = Type.Integer({
  minimum: 0,
  maximum: 8,
  default: 4,
  description: '8 runs first.',
});

/** A time as requests give it. */
export const GivenTime = Type.Union(
  [
    Type.String({ documented: { format: 'date-time', pattern: DOCUMENTED_TIME_PATTERN } }),
    Type.Integer({ minimum: 0, maximum: LIMITS.timeMsMax }),
  ],
  {
    description: 'ISO 8601, or milliseconds since 1970.',
    examples: ['2030-01-01T00:00:00.000Z'],
  },
);

/** Fields that a task may leave to the definition of its type. */
const DEFINABLE = {
  priority: Type.Optional(Priority),
  resources: Type.Optional(TaskResources),
  constraints: Type.Optional(Constraints),
  placement: Type.Optional(Placement),
  retry: Type.Optional(Retry),
  timeouts: Type.Optional(Timeouts),
  tags: Type.Optional(Tags),
  callback: Type.Optional(Callback),
};

/** The same fields as a task shows them: what is in force, whether the task or its type said it. */
export const SHOWN_FIELDS = {
  priority: Type.Integer(),
  resources: TaskResources,
  constraints: Constraints,
  placement: Type.Optional(Placement),
  retry: Type.Unsafe<Static<typeof Retry>>({ ...Retry, description: 'The policy in force.' }),
  timeouts: Timeouts,
  tags: Tags,
  callback: Type.Union([Callback, Type.Null()], {
    description: 'Where to call back, without the secret; or null.',
  }),
};

export const TaskDefinition = Type.Object(DEFINABLE, {
  additionalProperties: false,
  description: 'Defaults for tasks of the type.',
  examples: [{ priority: 6, retry: { maxAttempts: 5 }, timeouts: { runMs: 600_000 } }],
});
export type TaskDefinition = Static<typeof TaskDefinition>;

/** Code says of a reserved type what it is reserved for. */
const GivenType = Type.Unsafe<string>({
  ...TaskType,
  documented: { pattern: `^(?!(?:${COMMAND_TYPE}|${CONTAINER_TYPE})$)[A-Za-z0-9._:-]{1,128}$` },
});

export const TaskRequest = Type.Object(
  {
    type: GivenType,
    input: Type.Optional(
      Type.Unknown({ description: 'Any JSON up to 256 KiB. Numbers are doubles. Default null.' }),
    ),
    inputBlob: Type.Optional(BlobHash),
    exec: Type.Optional(Exec),
    ...DEFINABLE,
    runAt: Type.Optional(GivenTime),
    delayMs: Type.Optional(DelayMs),
    parentId: Type.Optional(
      Type.String({
        pattern: '^t_[0-9a-v]{20}$',
        allowed: 'the id of a task, such as t_01k7f6b1oj0000000001',
        description: 'Id of the parent task.',
      }),
    ),
    dedupeKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'A second submit of this type with this key and the same input returns the same task, ' +
          'whatever its other fields.',
      }),
    ),
    dedupeWindowMs: Type.Optional(
      Type.Integer({
        minimum: LIMITS.dedupeWindowMsMin,
        maximum: LIMITS.dedupeWindowMsMax,
        default: LIMITS.dedupeWindowMsDefault,
        description: 'How long the key is stored, from the first submit.',
      }),
    ),
    onDuplicate: Type.Optional(
      Type.Union([Type.Literal('refuse'), Type.Literal('existing'), Type.Literal('replace')], {
        default: 'refuse',
        description:
          'When the key stands for a task with another input: refuse answers 409, existing ' +
          'returns that task, replace gives it the new input, runAt, priority and tags. A task ' +
          'that a worker holds or that has ended is not replaced.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ type: 'hello', input: { name: 'Ada' } }],
    documented: {
      // A task with `exec` gets its type before the schema is asked.
      required: undefined,
      ...exactlyOne('type', 'exec'),
      ...notTogether(['input', 'inputBlob'], ['runAt', 'delayMs']),
      dependentRequired: { dedupeWindowMs: ['dedupeKey'], onDuplicate: ['dedupeKey'] },
    },
  },
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
          'Answer with the whole task when it ends or after this time. Single task only.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type SubmitQuery = Static<typeof SubmitQuery>;

export const SubmitHeaders = Type.Object(
  {
    [REQUEST_KEY_HEADER]: Type.String({
      pattern: '^[!-~]{1,128}$',
      description:
        'Makes the request safe to send again: the same key with the same body gives the same ' +
        'tasks. The answer repeats the key.',
    }),
    [REQUEST_WINDOW_HEADER]: Type.Optional(
      Type.Integer({
        minimum: LIMITS.dedupeWindowMsMin,
        maximum: LIMITS.dedupeWindowMsMax,
        default: LIMITS.dedupeWindowMsDefault,
        description: 'How long the request is remembered.',
      }),
    ),
  },
  { additionalProperties: false },
);

function orNull<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** A JSON merge patch: absent fields stay, null clears. */
const PATCHABLE = {
  priority: orNull(Priority),
  runAt: orNull(GivenTime),
  input: Type.Optional(
    Type.Unknown({
      description:
        'An object is merged into the old input, and null removes a field. Anything else ' +
        'replaces the old input.',
    }),
  ),
  inputBlob: Type.Optional(BlobHash),
  timeouts: orNull(
    Type.Object(
      {
        queueMs: orNull(TimeoutMs),
        runMs: orNull(TimeoutMs),
        heartbeatMs: orNull(TimeoutMs),
        totalMs: orNull(TimeoutMs),
      },
      { additionalProperties: false },
    ),
  ),
  tags: orNull(
    Type.Record(TagName, Type.Union([TagValue, Type.Null()]), {
      ...TAG_NAMES,
      maxProperties: 64,
      additionalProperties: false,
    }),
  ),
};

export const TaskPatch = Type.Object(PATCHABLE, {
  additionalProperties: false,
  documented: notTogether(['input', 'inputBlob']),
  minProperties: 1,
  examples: [{ priority: 8, runAt: null }],
});
export type TaskPatch = Static<typeof TaskPatch>;

export const TaskPatchOf = Type.Object(
  { id: TaskId, ...PATCHABLE },
  {
    additionalProperties: false,
    minProperties: 2,
    documented: notTogether(['input', 'inputBlob']),
  },
);
export type TaskPatchOf = Static<typeof TaskPatchOf>;

export const TaskParams = Type.Object({ id: TaskId });
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
