import { SluiceError, TaskFailed } from '../calls/sluice-error.ts';
import type { CancelOptions, ResultOptions, TaskHandle, WaitOptions } from '../task/task-handle.ts';
import type { TaskChanges } from '../task/task-options.ts';
import type { TaskError, TaskView } from '../task/task-view.ts';
import { hasEnded } from '../task/task-view.ts';

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

/** A handle whose calls go to the server of a client. */
export class ClientTaskHandle<Output = unknown> implements TaskHandle<Output> {
  readonly id: string;
  readonly deduplicated: boolean;
  private readonly operations: TaskOperations;

  constructor(id: string, operations: TaskOperations, deduplicated = false) {
    this.id = id;
    this.operations = operations;
    this.deduplicated = deduplicated;
  }

  async result(options: ResultOptions = {}): Promise<Output> {
    const task = await this.operations.wait(this.id, options);
    if (task.state === 'succeeded') return task.output as Output;
    if (hasEnded(task)) throw new TaskFailed(task);
    const waited = `task ${this.id} is ${task.state} after ${options.timeoutMs} ms`;
    throw new SluiceError('wait_timeout', waited);
  }

  wait(options: WaitOptions = {}): Promise<TaskView<Output>> {
    return this.operations.wait(this.id, options) as Promise<TaskView<Output>>;
  }

  async get(): Promise<TaskView<Output>> {
    return (await this.operations.get(this.id)) as TaskView<Output>;
  }

  async cancel(options: CancelOptions = {}): Promise<TaskView<Output>> {
    return (await this.operations.cancel(this.id, options)) as TaskView<Output>;
  }

  async update(changes: TaskChanges): Promise<TaskView<Output>> {
    return (await this.operations.update(this.id, changes)) as TaskView<Output>;
  }

  async signal(name: string, data: unknown = null): Promise<void> {
    await this.operations.signal(this.id, name, data);
  }

  async complete(output: Output): Promise<void> {
    await this.operations.complete(this.id, output);
  }

  async fail(error: string | TaskError): Promise<void> {
    await this.operations.fail(this.id, typeof error === 'string' ? { message: error } : error);
  }
}
