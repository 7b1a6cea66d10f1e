import { type Static, Type } from 'typebox';
import { exactlyOne, notTogether } from '../base/documented.ts';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { BlobHash } from './blob-schemas.ts';
import { RunId, TaskId } from './id-schemas.ts';
import { GivenTime, TaskPatchOf, TaskType } from './task-schemas.ts';
import { TaskError, TaskStateName, TaskView } from './task-view-schemas.ts';

const Ids = Type.Array(TaskId, { minItems: 1, maxItems: LIMITS.batchTasksMax });

const GraceMs = Type.Integer({
  minimum: 0,
  maximum: LIMITS.graceMsMax,
  default: LIMITS.graceMsDefault,
  description: 'Time for a worker to stop before its lease is revoked.',
});

/** The body of a call that takes none: any field would be ignored, so it is refused. */
export const NothingSaid = Type.Object({}, { additionalProperties: false });

export const CancelRequest = Type.Object(
  { graceMs: Type.Optional(GraceMs) },
  { additionalProperties: false },
);
export type CancelRequest = Static<typeof CancelRequest>;

/** Selects tasks: all given conditions must hold. */
const FILTER = {
  type: Type.Optional(TaskType),
  state: Type.Optional(TaskStateName),
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Tags that the task has.' }),
  ),
  parentId: Type.Optional(
    Type.Unsafe<string>({ ...TaskId, description: 'Only children of this task.' }),
  ),
  since: Type.Optional(GivenTime),
  until: Type.Optional(GivenTime),
};

export const TaskFilter = Type.Object(FILTER, { additionalProperties: false, minProperties: 1 });
export type TaskFilter = Static<typeof TaskFilter>;

export const CancelTasksRequest = Type.Object(
  {
    ids: Type.Optional(Ids),
    filter: Type.Optional(TaskFilter),
    graceMs: Type.Optional(GraceMs),
    dryRun: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only counts the matching tasks, and cancels nothing.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Either ids or a filter.',
    documented: { ...exactlyOne('ids', 'filter'), ...notTogether(['ids', 'dryRun']) },
    examples: [{ filter: { type: 'transcode', tags: { customer: '42' } }, dryRun: true }],
  },
);
export type CancelTasksRequest = Static<typeof CancelTasksRequest>;

const ItemError = Type.Object({ code: Type.String(), message: Type.String() });

/** For a call about several tasks: one outcome per task, in order. */
export const ItemOutcome = Type.Union([
  Type.Object({ id: Type.String(), ok: Type.Literal(true), state: TaskStateName }),
  Type.Object({ id: Type.String(), error: ItemError }),
]);

export const TaskOutcomes = Type.Object({ items: Type.Array(ItemOutcome) });

/** For a cancel by a filter. */
export const CancelCounts = Type.Object({
  matched: Type.Integer({ description: 'Open tasks that match.' }),
  cancelled: Type.Integer({ description: 'Matching tasks that were cancelled immediately.' }),
  requested: Type.Integer({ description: 'Matching tasks whose worker was told to stop.' }),
  dryRun: Type.Boolean(),
});

export const CancelTasksReply = Type.Union([TaskOutcomes, CancelCounts]);

export const RetryTasksRequest = Type.Object(
  {
    ids: Type.Optional(Ids),
    filter: Type.Optional(TaskFilter),
    dryRun: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only counts the matching tasks, and retries nothing. Needs a filter.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Either ids or a filter. A filter selects only tasks that ended without success.',
    documented: { ...exactlyOne('ids', 'filter'), ...notTogether(['ids', 'dryRun']) },
    examples: [{ filter: { type: 'transcode', state: 'failed' }, dryRun: true }],
  },
);
export type RetryTasksRequest = Static<typeof RetryTasksRequest>;

/** For a retry by a filter. */
export const RetryCounts = Type.Object({
  matched: Type.Integer({ description: 'Tasks that match and ended without success.' }),
  retried: Type.Integer({ description: 'Matching tasks that run again.' }),
  dryRun: Type.Boolean(),
});

export const RetryTasksReply = Type.Union([TaskOutcomes, RetryCounts]);

export const PatchTasksRequest = Type.Array(TaskPatchOf, {
  minItems: 1,
  maxItems: LIMITS.batchTasksMax,
});

export const GetTasksRequest = Type.Object({ ids: Ids }, { additionalProperties: false });

export const GetTasksReply = Type.Object({
  items: Type.Array(TaskView),
  unknown: Type.Array(Type.String(), { description: 'Ids of no known task.' }),
  notIncluded: Type.Array(Type.String(), {
    description:
      'Ids that were left out because the answer would be too large: request them again.',
  }),
});

export const WaitTasksRequest = Type.Object(
  {
    ids: Ids,
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: LIMITS.waitMsMax, default: LIMITS.waitMsDefault }),
    ),
  },
  { additionalProperties: false },
);

export const WaitTasksReply = Type.Object({
  items: Type.Array(TaskView, {
    description: 'Tasks that have ended. If they are very large, only some of them: call again.',
  }),
  unknown: Type.Array(Type.String(), { description: 'Ids of no known task.' }),
});

/** An idempotency key made by the client: new for each call, and the same for each repeat of it. */
export function requestKey(description: string) {
  return Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.:-]{1,64}$',
      allowed: '1 to 64 letters A to Z or a to z, digits and _ . : - , such as c1a9e0f2-7',
      description,
      examples: ['c1a9e0f2-7'],
    }),
  );
}

export const SignalRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    data: Type.Optional(Type.Unknown({ description: 'Any JSON up to 256 KiB. Default null.' })),
    key: requestKey(
      'Sent to the worker, which ignores a signal with a key that it has already received.',
    ),
  },
  { additionalProperties: false, examples: [{ name: 'bitrate', data: { kbps: 800 } }] },
);
export type SignalRequest = Static<typeof SignalRequest>;

export const RetryRequest = Type.Object(
  {
    input: Type.Optional(
      Type.Unknown({
        description:
          'Replaces the input: any JSON up to 256 KiB, taken whole. If absent, the task keeps ' +
          'its input. The change is audited, and the history shows the old input.',
      }),
    ),
    inputBlob: Type.Optional(BlobHash),
  },
  {
    additionalProperties: false,
    documented: notTogether(['input', 'inputBlob']),
    examples: [{ input: { to: 'ada@example.com' } }],
  },
);
export type RetryRequest = Static<typeof RetryRequest>;

const EndKey = requestKey(
  'A repeated request with the same key gets the answer of the first one and changes ' +
    'nothing, even if the task was retried since.',
);

export const CompleteRequest = Type.Object(
  { output: Type.Optional(Type.Unknown()), outputBlob: Type.Optional(BlobHash), key: EndKey },
  { additionalProperties: false, documented: notTogether(['output', 'outputBlob']) },
);
export type CompleteRequest = Static<typeof CompleteRequest>;

export const FailRequest = Type.Object(
  { error: TaskError, key: EndKey },
  { additionalProperties: false },
);
export type FailRequest = Static<typeof FailRequest>;

const Code = literals([
  'not_due',
  'paused',
  'queue_paused',
  'no_worker_for_type',
  'worker_full',
  'exceeds_worker',
  'constraint_unmet',
  'draining',
  'reserved',
  'behind_in_queue',
  'finished',
]);

export const HistoryEntry = Type.Object({
  at: Type.String({ format: 'date-time' }),
  from: Type.Union([TaskStateName, Type.Null()]),
  to: TaskStateName,
  reason: Type.String(),
  attempt: Type.Integer(),
  worker: Type.Union([Type.String(), Type.Null()], {
    description: 'Name of the worker that held or got the task.',
  }),
  inputBefore: Type.Optional(
    Type.Unknown({
      description:
        'The input that this retry replaced. Absent if the input did not change or is a blob, ' +
        'and in older entries of a task with very many replaced inputs.',
    }),
  ),
  inputBlobBefore: Type.Optional(BlobHash),
});

export const TaskHistory = Type.Object({
  items: Type.Array(HistoryEntry, {
    description: 'Oldest first. If there are very many, only the newest.',
  }),
});

export const Explanation = Type.Object({
  running: Type.Boolean(),
  reasons: Type.Array(
    Type.Object({
      code: Code,
      message: Type.String(),
      worker: Type.Optional(
        Type.String({ description: 'Name of the worker that the reason is about.' }),
      ),
    }),
  ),
  workersNotShown: Type.Integer(),
});

/** A flag in a query string: `?follow`, `?follow=1`, `?follow=true`. */
export const FLAG_TEXTS = ['', '1', 'true', 'false'];

export const LogQuery = Type.Object(
  {
    attempt: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.numberMax,
        description: 'Only lines of this attempt.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.logLinesShownMax,
        default: LIMITS.logLinesDefault,
        description: 'Number of last lines; fewer if they are very long.',
      }),
    ),
    follow: Type.Optional(
      literals(FLAG_TEXTS, {
        description:
          'Answer with events as lines arrive, until the task ends: ' +
          'lines [{attempt, at, line}], ping {}, end {state}.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const LogLine = Type.Object({
  attempt: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  line: Type.String(),
});

export const TaskLogLines = Type.Object({ items: Type.Array(LogLine) });

export const ListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMITS.pageMax, default: LIMITS.pageDefault }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,256}$',
        allowed: 'the nextCursor of the page before',
        description: '`nextCursor` of the previous page; any other value is refused.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListQuery = Static<typeof ListQuery>;

export const TaskListQuery = Type.Object(
  {
    ...ListQuery.properties,
    type: FILTER.type,
    state: FILTER.state,
    parent: FILTER.parentId,
    since: FILTER.since,
    until: FILTER.until,
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Text in the input, output or error.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Filter by a tag with tag.NAME=VALUE.',
  },
);
export type TaskListQuery = Static<typeof TaskListQuery>;

export const EventQuery = Type.Object(
  {
    task: Type.Optional(
      Type.Unsafe<string>({ ...TaskId, description: 'Only changes of this task.' }),
    ),
    run: Type.Optional(
      Type.Unsafe<string>({ ...RunId, description: 'Only changes of the tasks of this run.' }),
    ),
    type: FILTER.type,
  },
  { additionalProperties: false },
);

/** A page of anything. */
export function pageOf<T extends Parameters<typeof Type.Array>[0]>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description:
        'Cursor of the next page; null on the last page. A page may have fewer items than ' +
        'requested without being the last.',
    }),
    asOf: Type.String({ format: 'date-time' }),
    lagMs: Type.Integer({ description: 'How far the list is behind, in milliseconds.' }),
  });
}
