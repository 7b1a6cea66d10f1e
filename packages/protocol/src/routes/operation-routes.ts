import { Type } from 'typebox';
import { literals } from '../base/literals.ts';
import { BYTES, CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  DeadLetterGroupQuery,
  DeadLetterGroups,
  DeadLetterQuery,
  DiscardReply,
  DiscardRequest,
  QueuePatch,
  QueueView,
  RedriveParams,
  RedriveReply,
  RedriveRequest,
  RedriveView,
  StatsQuery,
  StatsView,
  TaskTypeView,
  TypeParams,
  WorkerParams,
  WorkerView,
} from '../schemas/operation-schemas.ts';
import { ListQuery, pageOf } from '../schemas/task-operation-schemas.ts';
import { TaskDefinition } from '../schemas/task-schemas.ts';
import { TaskView } from '../schemas/task-view-schemas.ts';

const Health = Type.Object({ status: Type.Literal('ok') });

const Index = Type.Object({
  name: Type.Literal('sluice'),
  version: Type.String(),
  openapi: Type.String({ description: 'Path of the description of every call.' }),
  ready: Type.String({ description: 'Path that answers 200 if the server accepts tasks.' }),
  metrics: Type.String({ description: 'Path of the metrics for Prometheus.' }),
});

const Bytes = Type.Integer({ minimum: 0 });

const Count = Type.Integer({ minimum: 0 });

const ClusterView = Type.Object({
  version: Type.String(),
  commit: Type.Optional(
    Type.String({ description: 'Commit of the sources, if it is known: a package or a clone.' }),
  ),
  startedAt: Type.String({ format: 'date-time' }),
  partitions: Type.Array(
    Type.Object({
      partition: Type.Integer(),
      state: Type.Union([Type.Literal('ok'), Type.Literal('stopped')]),
      log: Type.Optional(
        Type.Object({
          engine: Type.String(),
          position: Type.Integer({ description: 'Number of records ever appended.' }),
          isFull: Type.Boolean({ description: 'The disk is full: submits are refused.' }),
        }),
      ),
    }),
  ),
  store: Type.Optional(
    Type.Object(
      {
        durability: literals(['synchronous', 'storage', 'single']),
        level: Type.Integer({ description: 'Nothing newer is written by any server.' }),
        servers: Type.Array(
          Type.Object({
            url: Type.String(),
            role: literals(['owner', 'standby']),
            version: Type.String(),
            level: Type.Integer({ description: 'The newest level that it knows.' }),
            behindRecords: Count,
            seenMsAgo: Count,
          }),
        ),
      },
      { description: 'The servers that share a PostgreSQL. Absent for a server with a folder.' },
    ),
  ),
  projection: Type.Object(
    {
      state: Type.Union([Type.Literal('ok'), Type.Literal('failing'), Type.Literal('ended')]),
      why: Type.Optional(Type.String()),
      position: Type.Optional(Type.Integer({ description: 'First record that it has not read.' })),
      lagRecords: Type.Optional(Type.Integer()),
      lagMs: Type.Integer(),
      bytes: Type.Optional(Bytes),
    },
    { description: 'Files for search and history. Tasks run without it.' },
  ),
  clock: Type.Optional(
    Type.Object(
      {
        state: literals(['ok', 'jump_refused', 'slowed']),
        wallAheadMs: Type.Integer({ description: 'Wall clock minus the time of the server.' }),
      },
      {
        description:
          'jump_refused: the wall clock jumped ahead by more than an hour and is not followed. ' +
          'slowed: it is behind, and time runs slower until it is there.',
      },
    ),
  ),
  blobs: Type.Optional(
    Type.Object(
      { count: Count, bytes: Bytes },
      { description: 'Blobs: counted every hour, plus uploads since then.' },
    ),
  ),
  disk: Type.Optional(Type.Object({ freeBytes: Bytes, totalBytes: Bytes })),
  memory: Type.Optional(Type.Object({ residentBytes: Bytes })),
  quotas: Type.Optional(
    Type.Record(Type.String(), Type.Object({ used: Count, max: Count }), {
      description:
        "What the caller's namespace uses of each quota, by the name of its setting. Absent " +
        'while the disk does not answer.',
    }),
  ),
});

/** Calls that are about neither a single task nor a worker's session. */
export const OPERATION_ROUTES = {
  listTaskTypes: {
    method: 'GET',
    path: '/v1/task-types',
    access: 'read',
    summary: 'List the task types that have a definition',
    query: ListQuery,
    answers: { 200: pageOf(TaskTypeView) },
    errors: READ_ERRORS,
  },
  getTaskType: {
    method: 'GET',
    path: '/v1/task-types/{type}',
    access: 'read',
    summary: 'Read the definition of a task type',
    params: TypeParams,
    answers: { 200: TaskTypeView },
    errors: [...READ_ERRORS, 'task_type_not_found'],
  },
  putTaskType: {
    method: 'PUT',
    path: '/v1/task-types/{type}',
    repeatable: true,
    access: 'operate',
    summary: 'Define the defaults for tasks of a type',
    params: TypeParams,
    body: TaskDefinition,
    isBodyOptional: true,
    answers: { 200: TaskTypeView, 201: TaskTypeView },
    errors: CHANGE_ERRORS,
  },
  deleteTaskType: {
    method: 'DELETE',
    path: '/v1/task-types/{type}',
    access: 'operate',
    summary: 'Delete the definition of a task type; its tasks stay as they are',
    params: TypeParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'task_type_not_found'],
  },
  listQueues: {
    method: 'GET',
    path: '/v1/queues',
    access: 'read',
    summary: 'List the queues, one per task type, with depth, age and rates',
    query: ListQuery,
    answers: { 200: pageOf(QueueView) },
    errors: READ_ERRORS,
  },
  patchQueue: {
    method: 'PATCH',
    path: '/v1/queues/{type}',
    access: 'operate',
    summary: 'Pause or resume a queue; running tasks continue',
    params: TypeParams,
    body: QueuePatch,
    answers: { 200: QueueView },
    errors: CHANGE_ERRORS,
  },
  listDeadLetters: {
    method: 'GET',
    path: '/v1/dead-letters',
    access: 'read',
    summary: 'List dead letters: tasks that failed or timed out for good, oldest first',
    query: DeadLetterQuery,
    answers: { 200: pageOf(TaskView) },
    errors: READ_ERRORS,
  },
  groupDeadLetters: {
    method: 'GET',
    path: '/v1/dead-letters/groups',
    access: 'read',
    summary: 'Count dead letters by error',
    query: DeadLetterGroupQuery,
    answers: { 200: DeadLetterGroups },
    errors: READ_ERRORS,
  },
  startRedrive: {
    method: 'POST',
    path: '/v1/dead-letters/redrive',
    access: 'operate',
    summary: 'Run dead letters again at a given rate; continues after a restart',
    body: RedriveRequest,
    isBodyOptional: true,
    answers: { 202: RedriveReply },
    errors: CHANGE_ERRORS,
  },
  listRedrives: {
    method: 'GET',
    path: '/v1/dead-letters/redrives',
    access: 'read',
    summary: 'List the running redrives',
    query: ListQuery,
    answers: { 200: pageOf(RedriveView) },
    errors: READ_ERRORS,
  },
  endRedrive: {
    method: 'DELETE',
    path: '/v1/dead-letters/redrives/{id}',
    access: 'operate',
    summary: 'Stop a redrive; tasks that it has not run again stay dead letters',
    params: RedriveParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'redrive_not_found'],
  },
  discardDeadLetters: {
    method: 'POST',
    path: '/v1/dead-letters/discard',
    access: 'operate',
    summary: 'Remove tasks from the dead letters; they stay failed',
    body: DiscardRequest,
    isBodyOptional: true,
    answers: { 200: DiscardReply },
    errors: CHANGE_ERRORS,
  },
  getStats: {
    method: 'GET',
    path: '/v1/stats',
    access: 'read',
    isServerWide: true,
    summary: 'Figures over time: tasks in, out, failed, running and queued, and their durations',
    description: 'With follow the answer is a stream of events.',
    query: StatsQuery,
    answers: { 200: StatsView },
    errors: READ_ERRORS,
  },
  getCluster: {
    method: 'GET',
    path: '/v1/cluster',
    access: 'read',
    summary: 'Show the state of the log, the projection, the disk and the memory',
    description:
      'Only admins of the namespace default see figures of the whole server. Others see whether ' +
      'it runs and how far lists are behind.',
    answers: { 200: ClusterView },
    errors: READ_ERRORS,
  },
  takeBackup: {
    method: 'GET',
    path: '/v1/backup',
    access: 'administer',
    isServerWide: true,
    summary: 'Back up the running server, as it is at one moment',
    description:
      'Lines of JSON: `begin`; for every file a `file` with its path and length, a `piece` with ' +
      'each part of it, whose bytes follow the line, and a `check` with the SHA-256 of all; and ' +
      '`end`. Without `end` the backup is incomplete. Ignore `wait`; `error` says why the backup ' +
      'failed. Only one backup runs at a time.',
    answers: { 200: BYTES },
    errors: ['invalid_request', 'backup_not_here', 'overloaded', 'unavailable'],
  },
  listWorkers: {
    method: 'GET',
    path: '/v1/workers',
    access: 'read',
    summary: 'List the workers with their capacity and usage',
    query: ListQuery,
    answers: { 200: pageOf(WorkerView) },
    errors: READ_ERRORS,
  },
  drainWorker: {
    method: 'POST',
    path: '/v1/workers/{id}/drain',
    access: 'operate',
    summary: 'Give a worker no new tasks; it finishes those that it holds',
    params: WorkerParams,
    answers: { 200: WorkerView },
    errors: [...CHANGE_ERRORS, 'worker_not_found'],
  },
  healthLive: {
    method: 'GET',
    path: '/health/live',
    access: 'open',
    summary: 'Answers if the process runs',
    answers: { 200: Health },
    errors: ['invalid_request'],
  },
  healthReady: {
    method: 'GET',
    path: '/health/ready',
    access: 'open',
    summary: 'Answers 200 if the server accepts tasks and search has not stopped',
    answers: { 200: Health },
    errors: ['invalid_request', 'unavailable'],
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    access: 'read',
    isServerWide: true,
    summary: 'Metrics for Prometheus',
    answers: { 200: 'text/plain' },
    errors: ['invalid_request'],
  },
  getIndex: {
    method: 'GET',
    path: '/',
    access: 'open',
    summary: 'Say what this server is, and where its calls are described',
    answers: { 200: Index },
    errors: ['invalid_request'],
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    access: 'open',
    summary: 'This document',
    answers: { 200: Type.Object({}, { description: 'OpenAPI 3.1.' }) },
    errors: ['invalid_request'],
  },
} as const satisfies Record<string, Route>;
