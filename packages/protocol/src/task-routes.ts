import { Type } from 'typebox';
import { BODY_ERRORS, CHANGE_ERRORS, type Route } from './route.ts';
import {
  CancelRequest,
  CancelTasksReply,
  CancelTasksRequest,
  CompleteRequest,
  Explanation,
  FailRequest,
  GetTasksReply,
  GetTasksRequest,
  LogQuery,
  PatchTasksRequest,
  pageOf,
  SignalRequest,
  TaskListQuery,
  TaskLogLines,
  TaskOutcomes,
  WaitTasksReply,
  WaitTasksRequest,
} from './task-operation-schemas.ts';
import {
  SubmitQuery,
  SubmittedTask,
  SubmittedTasks,
  TaskParams,
  TaskPatch,
  TaskRequest,
  TaskRequests,
  TaskView,
  WaitQuery,
} from './task-schemas.ts';

const READ_ERRORS = ['invalid_request', 'overloaded', 'unavailable'] as const;

/** A call that does something to one task and answers with it. */
const OPERATION = { method: 'POST', params: TaskParams, answers: { 200: TaskView } } as const;

const IDLE_ERRORS = [...CHANGE_ERRORS, 'task_not_found', 'task_finished', 'task_running'] as const;

export const TASK_ROUTES = {
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
    errors: [...CHANGE_ERRORS, 'dedupe_mismatch', 'disk_full'],
  },
  listTasks: {
    method: 'GET',
    path: '/v1/tasks',
    summary: 'Search tasks, newest first',
    description:
      'Looks at tasks in memory: all that have not ended, and the newest of those that have. ' +
      'A tag is asked for as tag.NAME=VALUE.',
    query: TaskListQuery,
    answers: { 200: pageOf(TaskView) },
    errors: READ_ERRORS,
  },
  patchTasks: {
    method: 'PATCH',
    path: '/v1/tasks',
    summary: 'Change up to 1,000 tasks that nobody holds, each whole or not at all',
    body: PatchTasksRequest,
    answers: { 200: TaskOutcomes },
    errors: CHANGE_ERRORS,
  },
  getTasks: {
    method: 'POST',
    path: '/v1/tasks/get',
    summary: 'Read many tasks at once',
    body: GetTasksRequest,
    answers: { 200: GetTasksReply },
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  waitForTasks: {
    method: 'POST',
    path: '/v1/tasks/wait',
    summary: 'Answer with those that ended as soon as one did, or when the time is up',
    body: WaitTasksRequest,
    answers: { 200: WaitTasksReply },
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  cancelTasks: {
    method: 'POST',
    path: '/v1/tasks/cancel',
    summary: 'Cancel many tasks, by their ids or by a filter',
    body: CancelTasksRequest,
    answers: { 200: CancelTasksReply },
    errors: CHANGE_ERRORS,
  },
  getTask: {
    method: 'GET',
    path: '/v1/tasks/{id}',
    summary: 'Read one task',
    params: TaskParams,
    answers: { 200: TaskView },
    errors: ['task_not_found', 'overloaded', 'unavailable'],
  },
  patchTask: {
    ...OPERATION,
    method: 'PATCH',
    path: '/v1/tasks/{id}',
    summary: 'Change a task that nobody holds',
    description:
      'A JSON merge patch: null clears. A new priority puts the task at the tail of that level; ' +
      'a runAt in the future makes it wait, one in the past queues it at once.',
    body: TaskPatch,
    errors: IDLE_ERRORS,
  },
  waitForTask: {
    method: 'GET',
    path: '/v1/tasks/{id}/wait',
    summary: 'Answer when the task ended, or with its current state when the time is up',
    params: TaskParams,
    query: WaitQuery,
    answers: { 200: TaskView },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  explainTask: {
    method: 'GET',
    path: '/v1/tasks/{id}/explain',
    summary: 'Say why a task is not running, worker by worker',
    params: TaskParams,
    answers: { 200: Explanation },
    errors: ['task_not_found', 'overloaded', 'unavailable'],
  },
  getTaskLogs: {
    method: 'GET',
    path: '/v1/tasks/{id}/logs',
    summary: 'Read the lines that handlers wrote; as a stream of events with follow=true',
    params: TaskParams,
    query: LogQuery,
    answers: { 200: TaskLogLines },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  cancelTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/cancel',
    summary: 'Cancel a task; 202 while the worker that holds it is told to stop',
    body: CancelRequest,
    isBodyOptional: true,
    answers: { 200: TaskView, 202: TaskView },
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished'],
  },
  retryTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/retry',
    summary: 'Run a task again that ended without success, with all its attempts',
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished', 'task_not_finished'],
  },
  pauseTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/pause',
    summary: 'Hold back a task that nobody holds',
    errors: IDLE_ERRORS,
  },
  resumeTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/resume',
    summary: 'Let a paused task go on',
    errors: IDLE_ERRORS,
  },
  signalTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/signal',
    summary: 'Say a word to the worker that holds the task',
    body: SignalRequest,
    answers: { 204: 'none' },
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_not_leased', 'worker_unreachable'],
  },
  completeTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/complete',
    summary: 'End a task from outside, with success',
    body: CompleteRequest,
    isBodyOptional: true,
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished'],
  },
  failTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/fail',
    summary: 'End a task from outside, without success',
    body: FailRequest,
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished'],
  },
} as const satisfies Record<string, Route>;
