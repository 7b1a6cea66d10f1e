import type { TaskView as ApiTaskView, TaskState } from './api-types.ts';

export type { AttemptView, TaskError, TaskState } from './api-types.ts';

/** A task as the server shows it. Times are ISO 8601. A later server may show more. */
export interface TaskView<Output = unknown> extends Omit<ApiTaskView, 'output'> {
  /** Null until the task succeeded. */
  readonly output: Output | null;
}

const ENDED: readonly TaskState[] = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];

/** Whether nothing happens to the task any more by itself. */
export function hasEnded({ state }: Pick<TaskView, 'state'>): boolean {
  return ENDED.includes(state);
}
