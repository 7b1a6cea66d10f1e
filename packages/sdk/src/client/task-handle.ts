import { SluiceError, TaskFailed } from '../calls/sluice-error.ts';
import { traced } from '../calls/traced.ts';
import type { CancelOptions, TaskOperations, WaitOptions } from '../task/task-operations.ts';
import type { TaskChanges } from '../task/task-options.ts';
import type { TaskError, TaskView } from '../task/task-view.ts';
import { hasEnded } from '../task/task-view.ts';

export type { CancelOptions, TaskOperations, WaitOptions };

export type ResultOptions = WaitOptions;

/** A task that was submitted. */
export class TaskHandle<Output = unknown> {
  readonly id: string;
  /** A task with the dedupe key of the submit existed already, and this is it. */
  readonly deduplicated: boolean;
  private readonly operations: TaskOperations;

  /** Made by `submit` and `task`. */
  constructor(id: string, operations: TaskOperations, deduplicated = false) {
    this.id = id;
    this.operations = operations;
    this.deduplicated = deduplicated;
  }

  /**
   * The output of the task. Throws `TaskFailed` when it ends without success, and a `SluiceError`
   * with code `wait_timeout` when it has not ended in time.
   */
  async result(options: ResultOptions = {}): Promise<Output> {
    const task = await traced(this.operations.wait(this.id, options));
    if (task.state === 'succeeded') return task.output as Output;
    if (hasEnded(task)) throw new TaskFailed(task);
    const waited = `task ${this.id} is ${task.state} after ${options.timeoutMs} ms`;
    throw new SluiceError('wait_timeout', waited);
  }

  /** The task once it has ended, with or without success, or its current state at the timeout. */
  wait(options: WaitOptions = {}): Promise<TaskView<Output>> {
    return traced(this.operations.wait(this.id, options)) as Promise<TaskView<Output>>;
  }

  /** The current task. */
  get(): Promise<TaskView<Output>> {
    return traced(this.operations.get(this.id)) as Promise<TaskView<Output>>;
  }

  /**
   * Ends the task, or tells its worker to stop. In that case it ends when the worker stops, or when
   * the grace period is over. Throws a `SluiceError` with code `task_finished` when it had ended
   * another way before.
   */
  cancel(options: CancelOptions = {}): Promise<TaskView<Output>> {
    return traced(this.operations.cancel(this.id, options)) as Promise<TaskView<Output>>;
  }

  /**
   * Changes the task while no worker holds it. Throws a `SluiceError` with code `task_running` when
   * a worker holds it, and `task_finished` when it has ended.
   */
  update(changes: TaskChanges): Promise<TaskView<Output>> {
    return traced(this.operations.update(this.id, changes)) as Promise<TaskView<Output>>;
  }

  /**
   * Sends a signal to the handler that runs the task; `onSignal` receives it once. It is not kept
   * for later attempts.
   */
  signal(name: string, data: unknown = null): Promise<void> {
    return traced(this.operations.signal(this.id, name, data));
  }

  /** Ends the task from outside, with an output: for handlers that returned `Later`. */
  complete(output: Output): Promise<void> {
    return traced(this.operations.complete(this.id, output));
  }

  /** Ends the task from outside, without success. */
  fail(error: string | TaskError): Promise<void> {
    const given = typeof error === 'string' ? { message: error } : error;
    return traced(this.operations.fail(this.id, given));
  }
}
