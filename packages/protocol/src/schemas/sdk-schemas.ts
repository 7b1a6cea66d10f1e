import type { TSchema } from 'typebox';
import { TaskResources } from './resource-schemas.ts';
import {
  AttemptView,
  Callback,
  Retry,
  TaskDefinition,
  TaskError,
  TaskPatch,
  TaskRequest,
  TaskStateName,
  TaskView,
  Timeouts,
} from './task-schemas.ts';

/**
 * Schemas whose types the SDK shows to its users, by the names that they have there. A schema that
 * is a part of another one stands before it, so that the type of the larger one names it.
 */
export const SDK_SCHEMAS = {
  Resources: TaskResources,
  RetryOptions: Retry,
  TimeoutOptions: Timeouts,
  CallbackOptions: Callback,
  TaskDefaults: TaskDefinition,
  TaskRequest,
  TaskPatch,
  TaskState: TaskStateName,
  TaskError,
  AttemptView,
  TaskView,
} as const satisfies Record<string, TSchema>;
