import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import {
  SubmitQuery,
  SubmittedTask,
  SubmittedTasks,
  TaskParams,
  TaskRequest,
  TaskRequests,
  TaskView,
  WaitQuery,
} from './task-schemas.ts';
import {
  ReportsReply,
  ReportsRequest,
  SessionParams,
  WorkerSessionRequest,
} from './worker-schemas.ts';

/** One call of the API: what server, clients and the OpenAPI document agree on. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** By status: the schema of a JSON answer, or the media type of any other. */
  readonly answers: Readonly<Record<number, TSchema | 'text/event-stream' | 'none'>>;
  readonly errors: readonly ErrorCode[];
}

const Health = Type.Object({ status: Type.Literal('ok') });

const BODY_ERRORS = [
  'invalid_request',
  'payload_too_large',
  'unsupported_encoding',
  'unavailable',
] as const;

export const ROUTES = {
  submitTasks: {
    method: 'POST',
    path: '/v1/tasks',
    summary: 'Submit one task, or an array of up to 1,000: all or nothing',
    query: SubmitQuery,
    body: Type.Union([TaskRequest, TaskRequests]),
    answers: {
      200: Type.Union([SubmittedTask, TaskView]),
      201: Type.Union([SubmittedTask, SubmittedTasks, TaskView]),
    },
    errors: [...BODY_ERRORS, 'dedupe_mismatch', 'overloaded', 'disk_full'],
  },
  getTask: {
    method: 'GET',
    path: '/v1/tasks/{id}',
    summary: 'Read one task',
    params: TaskParams,
    answers: { 200: TaskView },
    errors: ['task_not_found', 'unavailable'],
  },
  waitForTask: {
    method: 'GET',
    path: '/v1/tasks/{id}/wait',
    summary: 'Answer when the task ended, or with its current state when the time is up',
    params: TaskParams,
    query: WaitQuery,
    answers: { 200: TaskView },
    errors: ['invalid_request', 'task_not_found', 'overloaded', 'unavailable'],
  },
  openWorkerSession: {
    method: 'POST',
    path: '/v1/worker-sessions',
    summary: 'Register a worker; tasks arrive on the stream that is the answer',
    description:
      'Events with one line of JSON each: ' +
      'welcome {sessionId, heartbeatMs, leaseMs, resumed, lost}, ' +
      'tasks [{id, type, attempt, lease, input, runTimeoutMs?, heartbeatTimeoutMs?, tags?}], ' +
      'cancel {id, lease, graceMs, reason}, signal {id, lease, name, data}, ' +
      'ping {}, drain {} (connect again with resume).',
    body: WorkerSessionRequest,
    answers: { 200: 'text/event-stream' },
    errors: [...BODY_ERRORS, 'session_not_found', 'resume_outdated', 'overloaded'],
  },
  reportAttempts: {
    method: 'POST',
    path: '/v1/worker-sessions/{sessionId}/reports',
    summary: 'Report on attempts; any call renews all leases of the session',
    params: SessionParams,
    body: ReportsRequest,
    answers: { 200: ReportsReply },
    errors: [...BODY_ERRORS, 'session_not_found', 'overloaded'],
  },
  closeWorkerSession: {
    method: 'DELETE',
    path: '/v1/worker-sessions/{sessionId}',
    summary: 'Hand back what the session holds, and end it',
    params: SessionParams,
    answers: { 204: 'none' },
    errors: ['session_not_found', 'unavailable'],
  },
  healthLive: {
    method: 'GET',
    path: '/health/live',
    summary: 'The process answers',
    answers: { 200: Health },
    errors: [],
  },
  healthReady: {
    method: 'GET',
    path: '/health/ready',
    summary: 'The server accepts tasks',
    answers: { 200: Health },
    errors: ['unavailable'],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
