import { CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  CallbackQuery,
  CallbackView,
  RedeliverReply,
  RedeliverRequest,
  TaskCallbacks,
} from '../schemas/callback-schemas.ts';
import { pageOf } from '../schemas/task-operation-schemas.ts';
import { TaskParams } from '../schemas/task-schemas.ts';

/** Calls about callbacks and their deliveries. */
export const CALLBACK_ROUTES = {
  getTaskCallbacks: {
    method: 'GET',
    path: '/v1/tasks/{id}/callbacks',
    access: 'read',
    summary: 'List every try of the callbacks of a task',
    params: TaskParams,
    answers: { 200: TaskCallbacks },
    errors: [...READ_ERRORS, 'task_not_found'],
  },
  listCallbacks: {
    method: 'GET',
    path: '/v1/callbacks',
    access: 'read',
    summary: 'List callbacks that are pending or were given up, oldest first',
    query: CallbackQuery,
    answers: { 200: pageOf(CallbackView) },
    errors: READ_ERRORS,
  },
  redeliverCallbacks: {
    method: 'POST',
    path: '/v1/callbacks/redeliver',
    access: 'operate',
    summary: 'Try callbacks again now that were given up or wait for a retry',
    body: RedeliverRequest,
    isBodyOptional: true,
    answers: { 200: RedeliverReply },
    errors: CHANGE_ERRORS,
  },
} as const satisfies Record<string, Route>;
