import { Type } from 'typebox';
import {
  DeadLetterQuery,
  DiscardReply,
  DiscardRequest,
  QueuePatch,
  Queues,
  QueueView,
  RedriveParams,
  RedriveReply,
  RedriveRequest,
  Redrives,
  TaskTypeView,
  TypeParams,
  WorkerListQuery,
  WorkerParams,
  WorkerView,
} from './operation-schemas.ts';
import { CHANGE_ERRORS, type Route } from './route.ts';
import { pageOf } from './task-operation-schemas.ts';
import { TaskDefinition, TaskView } from './task-schemas.ts';

const Health = Type.Object({ status: Type.Literal('ok') });

const READ_ERRORS = ['invalid_request', 'overloaded', 'unavailable'] as const;

/** Calls about everything that is no single task and no session of a worker. */
export const OPERATION_ROUTES = {
  listTaskTypes: {
    method: 'GET',
    path: '/v1/task-types',
    summary: 'List the task types that have a definition',
    answers: { 200: Type.Object({ items: Type.Array(TaskTypeView) }) },
    errors: READ_ERRORS,
  },
  getTaskType: {
    method: 'GET',
    path: '/v1/task-types/{type}',
    summary: 'Read the definition of a task type',
    params: TypeParams,
    answers: { 200: TaskTypeView },
    errors: [...READ_ERRORS, 'task_type_not_found'],
  },
  putTaskType: {
    method: 'PUT',
    path: '/v1/task-types/{type}',
    summary: 'Define what tasks of a type have when their submit does not say',
    params: TypeParams,
    body: TaskDefinition,
    answers: { 200: TaskTypeView, 201: TaskTypeView },
    errors: CHANGE_ERRORS,
  },
  deleteTaskType: {
    method: 'DELETE',
    path: '/v1/task-types/{type}',
    summary: 'Forget the definition of a task type; its tasks stay as they are',
    params: TypeParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'task_type_not_found'],
  },
  listQueues: {
    method: 'GET',
    path: '/v1/queues',
    summary: 'List the queues, one per task type: how deep, how old, how fast',
    answers: { 200: Queues },
    errors: READ_ERRORS,
  },
  patchQueue: {
    method: 'PATCH',
    path: '/v1/queues/{type}',
    summary: 'Pause or resume a queue; what workers hold goes on',
    params: TypeParams,
    body: QueuePatch,
    answers: { 200: QueueView },
    errors: CHANGE_ERRORS,
  },
  listDeadLetters: {
    method: 'GET',
    path: '/v1/dead-letters',
    summary: 'List failed and timed-out tasks, the first to end first',
    query: DeadLetterQuery,
    answers: { 200: pageOf(TaskView) },
    errors: READ_ERRORS,
  },
  startRedrive: {
    method: 'POST',
    path: '/v1/dead-letters/redrive',
    summary: 'Run dead letters again, so many a second; survives restarts',
    body: RedriveRequest,
    isBodyOptional: true,
    answers: { 202: RedriveReply },
    errors: CHANGE_ERRORS,
  },
  listRedrives: {
    method: 'GET',
    path: '/v1/dead-letters/redrives',
    summary: 'List the redrives that are under way',
    answers: { 200: Redrives },
    errors: READ_ERRORS,
  },
  endRedrive: {
    method: 'DELETE',
    path: '/v1/dead-letters/redrives/{id}',
    summary: 'End a redrive; what it has not run again stays a dead letter',
    params: RedriveParams,
    answers: { 204: 'none' },
    errors: [...READ_ERRORS, 'redrive_not_found'],
  },
  discardDeadLetters: {
    method: 'POST',
    path: '/v1/dead-letters/discard',
    summary: 'Take tasks off the list of dead letters; they stay failed',
    body: DiscardRequest,
    isBodyOptional: true,
    answers: { 200: DiscardReply },
    errors: CHANGE_ERRORS,
  },
  listWorkers: {
    method: 'GET',
    path: '/v1/workers',
    summary: 'List the workers, with what they offer and hold',
    query: WorkerListQuery,
    answers: { 200: pageOf(WorkerView) },
    errors: READ_ERRORS,
  },
  drainWorker: {
    method: 'POST',
    path: '/v1/workers/{id}/drain',
    summary: 'Give a worker nothing new; what it holds it may finish',
    params: WorkerParams,
    answers: { 200: WorkerView },
    errors: [...CHANGE_ERRORS, 'worker_not_found'],
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
