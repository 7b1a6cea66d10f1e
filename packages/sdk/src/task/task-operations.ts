import type { CancelOptions, WaitOptions } from './task-handle.ts';
import type { RetryChanges, TaskChanges } from './task-options.ts';
import type { TaskError, TaskView } from './task-view.ts';

/** Operations on a task by its id. */
export interface TaskOperations {
  get(id: string): Promise<TaskView>;
  /** The task once it has ended, or its current state at the timeout. */
  wait(id: string, options: WaitOptions): Promise<TaskView>;
  cancel(id: string, options: CancelOptions): Promise<TaskView>;
  update(id: string, changes: TaskChanges): Promise<TaskView>;
  /** Runs a task again that ended without success. */
  retry(id: string, changes: RetryChanges): Promise<TaskView>;
  signal(id: string, name: string, data: unknown): Promise<void>;
  complete(id: string, output: unknown): Promise<void>;
  fail(id: string, error: TaskError): Promise<void>;
}
