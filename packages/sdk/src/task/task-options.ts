import type { TaskPatch, TaskRequest } from './api-types.ts';

export type {
  CallbackOptions,
  Resources,
  RetryOptions,
  TaskDefaults,
  TimeoutOptions,
} from './api-types.ts';

/** What a submit may say. What it leaves out comes from the definition of the task. */
/** Options of a command, and its input, which it finds in the file `SLUICE_INPUT`. */
export interface ExecOptions extends SubmitOptions {
  readonly input?: unknown;
}

export interface SubmitOptions
  extends Omit<TaskRequest, 'type' | 'input' | 'inputBlob' | 'exec' | 'runAt'> {
  /** Not before this time: a date, ISO 8601, or milliseconds since 1970. */
  readonly runAt?: Date | string | number;
}

/** What changes in a task that no worker holds. What is absent stays, null clears. */
export interface TaskChanges extends Omit<TaskPatch, 'inputBlob' | 'runAt'> {
  /** Not before this time: a date, ISO 8601, or milliseconds since 1970. Null: at once. */
  readonly runAt?: Date | string | number | null;
}

/** What changes in a task that is retried. */
export interface RetryChanges {
  /**
   * Replaces the input. If absent, the task keeps its input. The change is audited, and the old
   * input stays in the task's history.
   */
  readonly input?: unknown;
}
