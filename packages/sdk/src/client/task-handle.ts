import { SluiceError, TaskFailed } from '../calls/sluice-error.ts';
import { traced } from '../calls/traced.ts';
import {
  type CancelOptions,
  checkWait,
  type ResultOptions,
  type TaskHandle,
  type WaitOptions,
} from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { TaskChanges } from '../task/task-options.ts';
import type { TaskError, TaskView } from '../task/task-view.ts';
import { hasEnded } from '../task/task-view.ts';

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
    const task = await traced(this.operations.wait(this.id, checkWait(options)));
    if (task.state === 'succeeded') return task.output as Output;
    if (hasEnded(task)) throw new TaskFailed(task);
    const waited = `task ${this.id} is ${task.state} after ${options.timeoutMs} ms`;
    throw new SluiceError('wait_timeout', waited);
  }

  async wait(options: WaitOptions = {}): Promise<TaskView<Output>> {
    return traced(this.operations.wait(this.id, checkWait(options))) as Promise<TaskView<Output>>;
  }

  get(): Promise<TaskView<Output>> {
    return traced(this.operations.get(this.id)) as Promise<TaskView<Output>>;
  }

  cancel(options: CancelOptions = {}): Promise<TaskView<Output>> {
    return traced(this.operations.cancel(this.id, options)) as Promise<TaskView<Output>>;
  }

  update(changes: TaskChanges): Promise<TaskView<Output>> {
    return traced(this.operations.update(this.id, changes)) as Promise<TaskView<Output>>;
  }

  signal(name: string, data: unknown = null): Promise<void> {
    return traced(this.operations.signal(this.id, name, data));
  }

  complete(output: Output): Promise<void> {
    return traced(this.operations.complete(this.id, output));
  }

  fail(error: string | TaskError): Promise<void> {
    const given = typeof error === 'string' ? { message: error } : error;
    return traced(this.operations.fail(this.id, given));
  }
}
