import { Type } from 'typebox';
import { BODY_ERRORS, CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  CancelRequest,
  CancelTasksReply,
  CancelTasksRequest,
  CompleteRequest,
  EventQuery,
  Explanation,
  FailRequest,
  GetTasksReply,
  GetTasksRequest,
  LogQuery,
  PatchTasksRequest,
  pageOf,
  RetryRequest,
  SignalRequest,
  TaskHistory,
  TaskListQuery,
  TaskLogLines,
  TaskOutcomes,
  WaitTasksReply,
  WaitTasksRequest,
} from '../schemas/task-operation-schemas.ts';
import {
  SubmitQuery,
  TaskParams,
  TaskPatch,
  TaskRequest,
  TaskRequests,
  WaitQuery,
} from '../schemas/task-schemas.ts';
import { SubmittedTask, SubmittedTasks, TaskView } from '../schemas/task-view-schemas.ts';

/** A call that changes one task and answers with the task. */
const OPERATION = { method: 'POST', params: TaskParams, answers: { 200: TaskView } } as const;

const IDLE_ERRORS = [...CHANGE_ERRORS, 'task_not_found', 'task_finished', 'task_running'] as const;

export const TASK_ROUTES = {
  submitTasks: {
    method: 'POST',
    path: '/v1/tasks',
    access: 'submit',
    summary: 'Submit one task, or an array of up to 1,000: all or nothing',
    query: SubmitQuery,
    body: Type.Union([TaskRequest, TaskRequests]),
    answers: {
      200: Type.Union([SubmittedTask, TaskView]),
      201: Type.Union([SubmittedTask, SubmittedTasks, TaskView]),
    },
    errors: [...CHANGE_ERRORS, 'dedupe_mismatch', 'blob_not_found', 'disk_full'],
  },
  listTasks: {
    method: 'GET',
    path: '/v1/tasks',
    access: 'read',
    summary: 'Search tasks, newest first',
    description:
      'Filter by a tag with tag.NAME=VALUE. A page of very large tasks ends early, with a cursor.',
    query: TaskListQuery,
    answers: { 200: pageOf(TaskView) },
    errors: READ_ERRORS,
  },
  patchTasks: {
    method: 'PATCH',
    path: '/v1/tasks',
    access: 'submit',
    summary: 'Change up to 1,000 tasks that no worker holds, each completely or not at all',
    body: PatchTasksRequest,
    answers: { 200: TaskOutcomes },
    errors: [...CHANGE_ERRORS, 'blob_not_found'],
  },
  getTasks: {
    method: 'POST',
    path: '/v1/tasks/get',
    access: 'read',
    summary: 'Read many tasks at once',
    body: GetTasksRequest,
    answers: { 200: GetTasksReply },
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  waitForTasks: {
    method: 'POST',
    path: '/v1/tasks/wait',
    access: 'read',
    summary:
      'Wait for many tasks: answer with the ended ones when at least one has, or at the timeout',
    body: WaitTasksRequest,
    answers: { 200: WaitTasksReply },
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  cancelTasks: {
    method: 'POST',
    path: '/v1/tasks/cancel',
    access: 'submit',
    summary: 'Cancel many tasks, by ids or by a filter',
    body: CancelTasksRequest,
    answers: { 200: CancelTasksReply },
    errors: CHANGE_ERRORS,
  },
  getTask: {
    method: 'GET',
    path: '/v1/tasks/{id}',
    access: 'read',
    summary: 'Read one task',
    params: TaskParams,
    answers: { 200: TaskView },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  patchTask: {
    ...OPERATION,
    method: 'PATCH',
    path: '/v1/tasks/{id}',
    access: 'submit',
    summary: 'Change a task that no worker holds',
    description:
      'A JSON merge patch: null clears. With a new priority the task goes to the end of the ' +
      'tasks of that priority. A runAt in the future delays the task; one in the past queues it.',
    body: TaskPatch,
    errors: [...IDLE_ERRORS, 'blob_not_found'],
  },
  waitForTask: {
    method: 'GET',
    path: '/v1/tasks/{id}/wait',
    access: 'read',
    summary: 'Wait until the task ends, or answer with its current state at the timeout',
    params: TaskParams,
    query: WaitQuery,
    answers: { 200: TaskView },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  getTaskHistory: {
    method: 'GET',
    path: '/v1/tasks/{id}/history',
    access: 'read',
    summary: 'List every change of a task',
    params: TaskParams,
    answers: { 200: TaskHistory },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  followEvents: {
    method: 'GET',
    path: '/v1/events',
    access: 'read',
    summary: 'Follow the changes of tasks as a stream of events',
    description:
      'Events with one line of JSON each: change {task, type, run?, from, to, reason, attempt, ' +
      'at}, published {event, run, workflow, step, payload, at} (an EVENT step), ' +
      'gap {from, to} (these records of the log are no longer available), ping {}, drain {} ' +
      '(connect again). An id is a position in this log. With an id as Last-Event-ID the stream ' +
      'continues after it, and a change may arrive twice. An id of another log, or from before ' +
      'a restore, gives a gap from 0. Without an id the stream starts now.',
    query: EventQuery,
    answers: { 200: 'text/event-stream' },
    errors: [...READ_ERRORS, 'task_not_found', 'run_not_found'],
  },
  followChanges: {
    method: 'GET',
    path: '/v1/changes',
    access: 'read',
    summary: 'Be told, at most once a second, that something changed',
    description:
      'Events for pages that show lists: changed {} when there is something new to read, ping {} ' +
      'after five quiet seconds, drain {} (connect again). They do not say what changed.',
    answers: { 200: 'text/event-stream' },
    errors: READ_ERRORS,
  },
  explainTask: {
    method: 'GET',
    path: '/v1/tasks/{id}/explain',
    access: 'read',
    summary: 'Explain why a task is not running, for each worker',
    params: TaskParams,
    answers: { 200: Explanation },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  getTaskLogs: {
    method: 'GET',
    path: '/v1/tasks/{id}/logs',
    access: 'read',
    summary: 'Read the lines that handlers logged; as a stream of events with follow=true',
    params: TaskParams,
    query: LogQuery,
    answers: { 200: TaskLogLines },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  cancelTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/cancel',
    access: 'submit',
    summary: 'Cancel a task; 202 if a worker holds it and was told to stop',
    body: CancelRequest,
    isBodyOptional: true,
    answers: { 200: TaskView, 202: TaskView },
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished'],
  },
  retryTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/retry',
    access: 'submit',
    summary: 'Run a task again that did not succeed, with all its attempts; maybe with a new input',
    body: RetryRequest,
    isBodyOptional: true,
    errors: [
      ...CHANGE_ERRORS,
      'task_not_found',
      'blob_not_found',
      'task_finished',
      'task_not_finished',
      'task_of_run',
    ],
  },
  pauseTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/pause',
    access: 'submit',
    summary: 'Pause a task that no worker holds',
    errors: IDLE_ERRORS,
  },
  resumeTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/resume',
    access: 'submit',
    summary: 'Resume a paused task',
    errors: IDLE_ERRORS,
  },
  signalTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/signal',
    access: 'submit',
    summary: 'Send a message to the handler that runs the task',
    body: SignalRequest,
    answers: { 204: 'none' },
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_not_leased', 'worker_unreachable'],
  },
  completeTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/complete',
    access: 'end',
    summary: 'End a task from outside as succeeded',
    body: CompleteRequest,
    isBodyOptional: true,
    errors: [...CHANGE_ERRORS, 'task_not_found', 'blob_not_found', 'task_finished'],
  },
  failTask: {
    ...OPERATION,
    path: '/v1/tasks/{id}/fail',
    access: 'end',
    summary: 'End a task from outside as failed',
    body: FailRequest,
    errors: [...CHANGE_ERRORS, 'task_not_found', 'task_finished'],
  },
} as const satisfies Record<string, Route>;
