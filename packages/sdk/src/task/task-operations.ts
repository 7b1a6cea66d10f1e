import type { TaskChanges } from './task-options.ts';
import type { TaskError, TaskView } from './task-view.ts';

export interface WaitOptions {
  /** How long to wait; without it there is no limit. */
  readonly timeoutMs?: number;
  /** Ends the waiting, not the task. */
  readonly signal?: AbortSignal;
}

export interface CancelOptions {
  /** How long a worker may take to stop before the task is taken away. Default 10 s. */
  readonly graceMs?: number;
}

/** Operations on a task by its id. */
export interface TaskOperations {
  get(id: string): Promise<TaskView>;
  /** The task once it has ended, or its current state at the timeout. */
  wait(id: string, options: WaitOptions): Promise<TaskView>;
  cancel(id: string, options: CancelOptions): Promise<TaskView>;
  update(id: string, changes: TaskChanges): Promise<TaskView>;
  signal(id: string, name: string, data: unknown): Promise<void>;
  complete(id: string, output: unknown): Promise<void>;
  fail(id: string, error: TaskError): Promise<void>;
}
