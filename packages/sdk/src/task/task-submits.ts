import type { TaskDefinition } from './define-task.ts';
import type { TaskHandle } from './task-handle.ts';
import type { SubmitOptions } from './task-options.ts';

/** Options for all tasks, or a function that returns them for each input. */
export type SubmitManyOptions<Input> =
  | SubmitOptions
  | ((input: Input, index: number) => SubmitOptions);

/** The submits of a client, and of a handler for the children of its task. */
export interface TaskSubmits {
  submit<Input, Output>(
    task: TaskDefinition<Input, Output>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;
  submit<Output = unknown>(
    type: string,
    input?: unknown,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;

  submitMany<Input, Output>(
    task: TaskDefinition<Input, Output>,
    inputs: readonly Input[],
    options?: SubmitManyOptions<Input>,
  ): Promise<TaskHandle<Output>[]>;
  submitMany<Output = unknown>(
    type: string,
    inputs: readonly unknown[],
    options?: SubmitManyOptions<unknown>,
  ): Promise<TaskHandle<Output>[]>;
}
