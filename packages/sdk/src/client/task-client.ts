import { execTypeOf } from '@sluice/protocol/exec-types';
import { LIMITS } from '@sluice/protocol/limits';
import type { Followed } from '../calls/followed-stream.ts';
import { SluiceError } from '../calls/sluice-error.ts';
import { traced } from '../calls/traced.ts';
import type { DeadLetterGroup, QueueGroup, TaskGroup } from '../operators/operator-groups.ts';
import type { EventOptions, OperatorPort, TaskEvent } from '../operators/operator-port.ts';
import type { RunGroup, WorkflowGroup } from '../operators/run-groups.ts';
import type { ScheduleGroup } from '../operators/schedule-group.ts';
import {
  type AnyTask,
  defaultsOf,
  type TaskBody,
  type TaskDefinition,
  taskBody,
} from '../task/define-task.ts';
import type { CommandExec, ContainerExec } from '../task/exec-types.ts';
import type { TaskHandle } from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type {
  ExecOptions,
  SubmitOptions,
  TaskChanges,
  TaskDefaults,
} from '../task/task-options.ts';
import type { SubmitManyOptions, TaskSubmits } from '../task/task-submits.ts';
import type { TaskView } from '../task/task-view.ts';
import type { RunHandle } from '../workflow/run-handle.ts';
import type { StartManyOptions, StartOptions } from '../workflow/run-view.ts';
import type { AnyWorkflow, Workflow } from '../workflow/workflow.ts';
import type { RunStarts } from './run-starts.ts';
import { ClientTaskHandle } from './task-handle.ts';

/** Number of calls of a large `submitMany` under way at once. */
const CALLS_AT_ONCE = 4;

/** A task in the answer to a submit. */
export interface Submitted {
  readonly id: string;
  readonly deduplicated: boolean;
}

/** The typed interface to a server, a real one or one in the same process. */
export abstract class TaskClient implements TaskSubmits {
  /** Lists, reads, cancels, retries, pauses and changes tasks, also of other clients. */
  abstract readonly tasks: TaskGroup;
  /** Lists, redrives and discards tasks that failed or timed out for good. */
  abstract readonly deadLetters: DeadLetterGroup;
  /** Lists, pauses and resumes queues. */
  abstract readonly queues: QueueGroup;
  /** Lists, reads and cancels runs, also of other clients. */
  abstract readonly runs: RunGroup;
  /** Registers, lists, reads and deletes the definitions of workflows. */
  abstract readonly workflows: WorkflowGroup;
  /** Creates, changes, fires and explains schedules. */
  abstract readonly schedules: ScheduleGroup;
  protected abstract readonly operations: TaskOperations;
  protected abstract readonly starts: RunStarts;
  protected abstract readonly operators: OperatorPort;

  /**
   * Submits tasks in one call, all or none, and resolves with the result of `made`. `first` is the
   * index of the first task among all tasks of the caller: errors refer to those. It is undefined
   * when the caller submits a single task, which has no index.
   */
  protected abstract send<T>(
    tasks: readonly TaskBody[],
    first: number | undefined,
    made: (submitted: readonly Submitted[]) => T,
  ): Promise<T>;

  protected abstract putType(type: string, defaults: TaskDefaults): Promise<void>;

  /** Tasks are submitted by the name of their type. `sent` resolves when they are stored. */
  protected submittedByName(_type: string, _sent: Promise<unknown>): void {}

  /**
   * Submits a command or a container, which an agent runs: a list of the program and its arguments,
   * or an object with `command` or `image`, an environment, files and more. Without a shell, so
   * nothing in an argument is special.
   */
  exec<Output = unknown>(
    exec: readonly string[] | CommandExec | ContainerExec,
    { input, ...options }: ExecOptions = {},
  ): Promise<TaskHandle<Output>> {
    const given = Array.isArray(exec) ? { command: exec } : (exec as CommandExec | ContainerExec);
    const body = { ...taskBody(execTypeOf(given), input, options), exec: given };
    return traced(this.send([body], undefined, this.firstHandle)) as Promise<TaskHandle<Output>>;
  }

  /**
   * Submits a task. It is on disk when this resolves, and never stored twice.
   *
   * `task` is a definition, or the name of a type that is defined elsewhere. One signature serves
   * both, so that the compiler reports a mistake at its place in the input or the options.
   */
  submit<Output = unknown, Input = unknown>(
    task: TaskDefinition<Input, Output> | string,
    input: NoInfer<Input>,
    options?: SubmitOptions,
  ): Promise<TaskHandle<Output>>;
  /** Submits a task that needs no input. */
  submit<Output = unknown>(
    task: TaskDefinition<undefined, Output> | string,
  ): Promise<TaskHandle<Output>>;
  submit(
    task: string | AnyTask,
    input?: unknown,
    options: SubmitOptions = {},
  ): Promise<TaskHandle> {
    try {
      const sent = this.send([taskBody(task, input, options)], undefined, this.firstHandle);
      if (typeof task === 'string') this.submittedByName(task, sent);
      return traced(sent);
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
  submitMany<Output = unknown, Input = unknown>(
    task: TaskDefinition<Input, Output> | string,
    inputs: readonly NoInfer<Input>[],
    options: SubmitManyOptions<NoInfer<Input>> = {},
  ): Promise<TaskHandle<Output>[]> {
    return traced(this.submitParts(task as string | AnyTask, inputs, options)) as Promise<
      TaskHandle<Output>[]
    >;
  }

  private async submitParts(
    task: string | AnyTask,
    inputs: readonly unknown[],
    options: SubmitManyOptions<never>,
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

  /**
   * Starts a run of a workflow. It is on disk when this resolves, and never started twice.
   *
   * `workflow` is a definition, which is registered if the server does not know this version, or
   * the name of a workflow. Throws a `SluiceError` with code `version_in_use` when the server has
   * another definition of this version.
   */
  start<Output = unknown, Input = unknown>(
    workflow: Workflow<Input, Output> | string,
    input: NoInfer<Input>,
    options?: StartOptions,
  ): Promise<RunHandle<Output>>;
  /** Starts a run that needs no input. */
  start<Output = unknown>(
    workflow: Workflow<undefined, Output> | string,
  ): Promise<RunHandle<Output>>;
  start(
    workflow: AnyWorkflow | string,
    input?: unknown,
    options: StartOptions = {},
  ): Promise<RunHandle> {
    return traced(this.starts.one(workflow, input, options));
  }

  /**
   * Starts one run per input; the handles are in the same order. Up to 1,000 are started all or
   * none. Larger numbers are split into several such calls, one after the other.
   */
  startMany<Output = unknown, Input = unknown>(
    workflow: Workflow<Input, Output> | string,
    inputs: readonly NoInfer<Input>[],
    options: StartManyOptions<NoInfer<Input>> = {},
  ): Promise<RunHandle<Output>[]> {
    const started = this.starts.many(workflow as AnyWorkflow | string, inputs, options);
    return traced(started) as Promise<RunHandle<Output>[]>;
  }

  /** A handle for a run whose id is known. */
  run<Output = unknown>(id: string): RunHandle<Output> {
    return this.starts.handle({ id }) as RunHandle<Output>;
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
   * Follows the changes of tasks: `for await (const event of sluice.events())`. A lost connection
   * is opened again, and continues where it was. If changes were missed, there is an event of kind
   * `gap`.
   */
  events(options: EventOptions = {}): Followed<TaskEvent> {
    return this.operators.events(options);
  }

  /**
   * Stores the definition's options on the server, for clients that submit the type without the
   * definition. A submit through the definition needs no registration.
   */
  register(task: AnyTask): Promise<void> {
    return traced(this.putType(task.type, defaultsOf(task)));
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

/** The path of a task among those of its caller; empty for a single one. */
export function pathOfTask(first: number | undefined, index: number): string {
  return first === undefined ? '' : `/${first + index}`;
}
