/** What every entry of the package exports beside its own `Sluice`. */
export type { ServerUrl } from './addresses.ts';
export { type AnyTask, defineTask, type TaskDefinition } from './define-task.ts';
export { Later, PermanentFailure, RetryAfter, TaskAborted } from './failures.ts';
export type { ErrorDetail } from './http-answers.ts';
export type { SluiceOptions } from './sluice-client.ts';
export { SluiceError, TaskFailed } from './sluice-error.ts';
export type { SubmitManyOptions, TaskClient } from './task-client.ts';
export type { SignalListener, TaskContext } from './task-context.ts';
export type { CancelOptions, ResultOptions, TaskHandle, WaitOptions } from './task-handle.ts';
export type {
  CallbackOptions,
  Resources,
  RetryOptions,
  SubmitOptions,
  TaskChanges,
  TaskDefaults,
  TimeoutOptions,
} from './task-options.ts';
export type { AttemptView, TaskError, TaskState, TaskView } from './task-view.ts';
export type { StopOptions, Worker, WorkerNotice, WorkOptions } from './worker.ts';
