import type { TaskDefinition } from './define-task.ts';
import type { TaskHandle } from './task-handle.ts';
import type { SubmitOptions } from './task-options.ts';

/** Options for all tasks, or a function that returns them for each input. */
export type SubmitManyOptions<Input> =
  | SubmitOptions
  | ((input: Input, index: number) => SubmitOptions);

/** The submits of a client, and of a handler for the children of its task. */
export interface TaskSubmits {
  /** `task` is a definition, or the name of a type that is defined elsewhere. */
  submit<Output = unknown, Input = unknown>(
    task: TaskDefinition<Input, Output> | string,
    input: NoInfer<Input>,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;
  submit<Output = unknown>(
    task: TaskDefinition<undefined, Output> | string,
  ): Promise<TaskHandle<Output>>;

  submitMany<Output = unknown, Input = unknown>(
    task: TaskDefinition<Input, Output> | string,
    inputs: readonly NoInfer<Input>[],
    options?: SubmitManyOptions<NoInfer<Input>>,
  ): Promise<TaskHandle<Output>[]>;
}
