import { LIMITS } from '@sluice/protocol/limits';
import { SluiceError } from '../calls/sluice-error.ts';
import {
  type AnyTask,
  defaultsOf,
  type TaskBody,
  type TaskDefinition,
  taskBody,
} from '../task/define-task.ts';
import type { TaskHandle } from '../task/task-handle.ts';
import type { SubmitOptions, TaskChanges, TaskDefaults } from '../task/task-options.ts';
import type { SubmitManyOptions, TaskSubmits } from '../task/task-submits.ts';
import type { TaskView } from '../task/task-view.ts';
import { ClientTaskHandle, type TaskOperations } from './task-handle.ts';

/** Number of calls of a large `submitMany` under way at once. */
const CALLS_AT_ONCE = 4;

/** A task in the answer to a submit. */
export interface Submitted {
  readonly id: string;
  readonly deduplicated: boolean;
}

/** The typed interface to a server, a real one or one in the same process. */
export abstract class TaskClient implements TaskSubmits {
  protected abstract readonly operations: TaskOperations;

  /**
   * Submits tasks in one call, all or none, and resolves with the result of `made`. `first` is the
   * index of the first task among all tasks of the caller: errors refer to those.
   */
  protected abstract send<T>(
    tasks: readonly TaskBody[],
    first: number,
    made: (submitted: readonly Submitted[]) => T,
  ): Promise<T>;

  protected abstract putType(type: string, defaults: TaskDefaults): Promise<void>;

  /** Tasks are submitted by the name of their type. `sent` resolves when they are stored. */
  protected submittedByName(_type: string, _sent: Promise<unknown>): void {}

  /** Submits a task. It is on disk when this resolves, and never stored twice. */
  submit<Input, Output>(
    task: TaskDefinition<Input, Output>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;
  /** Submits a task of a type that is defined elsewhere. */
  submit<Output = unknown>(
    type: string,
    input?: unknown,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;
  // Not an async function: a client may have very many of these promises, so it makes one per call.
  submit(
    task: string | AnyTask,
    input?: unknown,
    options: SubmitOptions = {},
  ): Promise<TaskHandle> {
    try {
      const sent = this.send([taskBody(task, input, options)], 0, this.firstHandle);
      if (typeof task === 'string') this.submittedByName(task, sent);
      return sent;
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  /**
   * Submits one task per input; the handles are in the same order.
   *
   * Up to 1,000 tasks that together are smaller than 4 MiB are stored all or none. Larger numbers
   * are split into several such calls: when one of them fails, others may have been stored.
   */
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
  async submitMany(
    task: string | AnyTask,
    inputs: readonly unknown[],
    options: SubmitManyOptions<never> = {},
  ): Promise<TaskHandle[]> {
    const bodies = inputs.map((input, index) => {
      const own = typeof options === 'function' ? options(input as never, index) : options;
      return taskBody(task, input, own);
    });
    const handles: TaskHandle[] = new Array(bodies.length);
    const parts = partsOf(bodies);
    const sendParts = async (): Promise<void> => {
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
        const { first } = part;
        const halves = await this.sendPart(part, (submitted) => {
          submitted.forEach((one, index) => {
            handles[first + index] = this.handle(one);
          });
        });
        parts.push(...halves);
      }
    };
    const sent = Promise.all(Array.from({ length: CALLS_AT_ONCE }, sendParts));
    if (typeof task === 'string' && inputs.length > 0) this.submittedByName(task, sent);
    await sent;
    return handles;
  }

  /** A handle for a task whose id is known. */
  task<Output = unknown>(id: string): TaskHandle<Output> {
    return new ClientTaskHandle(id, this.operations);
  }

  /**
   * Changes a task while no worker holds it: `runAt`, `priority`, `input`, `tags`, `timeouts`.
   * Throws a `SluiceError` with code `task_running` when a worker holds it, and `task_finished`
   * when it has ended.
   */
  update<Output>(
    task: TaskHandle<Output> | string,
    changes: TaskChanges,
  ): Promise<TaskView<Output>> {
    const handle = typeof task === 'string' ? this.task<Output>(task) : task;
    return handle.update(changes);
  }

  /**
   * Stores the definition's options on the server, for clients that submit the type without the
   * definition. A submit through the definition needs no registration.
   */
  async register(task: AnyTask): Promise<void> {
    await this.putType(task.type, defaultsOf(task));
  }

  private handle({ id, deduplicated }: Submitted): TaskHandle {
    return new ClientTaskHandle(id, this.operations, deduplicated);
  }

  private readonly firstHandle = ([submitted]: readonly Submitted[]): TaskHandle =>
    this.handle(submitted);

  /** Sends one call, or returns smaller ones to send instead. */
  private async sendPart(
    { first, bodies }: Part,
    submitted: (tasks: readonly Submitted[]) => void,
  ): Promise<Part[]> {
    try {
      await this.send(bodies, first, submitted);
      return [];
    } catch (cause) {
      if (bodies.length > 1 && isTooLargeTogether(cause)) return halvesOf({ first, bodies });
      throw cause;
    }
  }
}

/** Tasks that are submitted in one call, and their position among all. */
interface Part {
  readonly first: number;
  readonly bodies: readonly TaskBody[];
}

/** In reverse order. */
function partsOf(bodies: readonly TaskBody[]): Part[] {
  const parts: Part[] = [];
  for (let first = 0; first < bodies.length; first += LIMITS.batchTasksMax) {
    parts.push({ first, bodies: bodies.slice(first, first + LIMITS.batchTasksMax) });
  }
  return parts.reverse();
}

function halvesOf({ first, bodies }: Part): Part[] {
  const middle = Math.ceil(bodies.length / 2);
  return [
    { first: first + middle, bodies: bodies.slice(middle) },
    { first, bodies: bodies.slice(0, middle) },
  ];
}

/** The tasks are too large together. A single task that is too large would be named by a path. */
function isTooLargeTogether(cause: unknown): boolean {
  if (!(cause instanceof SluiceError) || cause.code !== 'payload_too_large') return false;
  return cause.details.every(({ path }) => path === '');
}
