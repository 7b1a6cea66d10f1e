import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import type { TaskChanges } from './task-options.ts';
import type { TaskError, TaskView } from './task-view.ts';

export interface WaitOptions {
  /** How long to wait; without it there is no limit. */
  readonly timeoutMs?: number;
  /** Ends the waiting, not the task. */
  readonly signal?: AbortSignal;
}

export type ResultOptions = WaitOptions;

const WAIT_FIELDS: FieldsOf<WaitOptions> = { timeoutMs: true, signal: true };

/** A misspelled timeout would wait for ever. */
export function checkWait(options: WaitOptions): WaitOptions {
  refuseUnknownFields(options, WAIT_FIELDS, 'the options of a wait');
  return options;
}

export interface CancelOptions {
  /** How long a worker may take to stop before the task is taken away. Default 10 s. */
  readonly graceMs?: number;
}

/** A task that was submitted. */
export interface TaskHandle<Output = unknown> {
  readonly id: string;
  /** A task with the dedupe key of the submit existed already, and this is it. */
  readonly deduplicated: boolean;

  /**
   * The output of the task. Throws `TaskFailed` when it ends without success, and a `SluiceError`
   * with code `wait_timeout` when it has not ended in time.
   */
  result(options?: ResultOptions): Promise<Output>;

  /** The task once it has ended, with or without success, or its current state at the timeout. */
  wait(options?: WaitOptions): Promise<TaskView<Output>>;

  /** The current task. */
  get(): Promise<TaskView<Output>>;

  /**
   * Ends the task, or tells its worker to stop. In that case it ends when the worker stops, or when
   * the grace period is over. Throws a `SluiceError` with code `task_finished` when it had ended
   * another way before.
   */
  cancel(options?: CancelOptions): Promise<TaskView<Output>>;

  /**
   * Changes the task while no worker holds it. Throws a `SluiceError` with code `task_running` when
   * a worker holds it, and `task_finished` when it has ended.
   */
  update(changes: TaskChanges): Promise<TaskView<Output>>;

  /**
   * Sends a signal to the handler that runs the task; `onSignal` receives it once. It is not kept
   * for later attempts.
   */
  signal(name: string, data?: unknown): Promise<void>;

  /** Ends the task from outside, with an output: for handlers that returned `Later`. */
  complete(output: Output): Promise<void>;

  /** Ends the task from outside, without success. */
  fail(error: string | TaskError): Promise<void>;
}
