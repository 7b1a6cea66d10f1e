import { traced } from '../calls/traced.ts';
import type { CancelOptions } from '../task/task-handle.ts';
import type { RetryChanges, TaskChanges } from '../task/task-options.ts';
import type { TaskView } from '../task/task-view.ts';
import type {
  CancelMatchingOptions,
  DeadLetterQuery,
  DiscardRequest,
  ListedTask,
  LogOptions,
  OperatorPort,
  RetryMatchingOptions,
  TaskQuery,
  TaskSelection,
  TaskUpdate,
} from './operator-port.ts';
import type {
  CancelCounts,
  DeadLetterFilter,
  DiscardReply,
  Explanation,
  LogLine,
  QueueView,
  RedriveReply,
  RedriveRequest,
  RedriveView,
  RetryCounts,
  TaskOutcome,
} from './operator-types.ts';
import { eachItem, type Page, type PageOptions } from './pages.ts';

/** The API's limit for calls about many tasks. */
const IDS_MAX = 1000;

/** A task by its id, or by its handle. */
export type TaskReference = string | { readonly id: string };

export function idOf(task: TaskReference): string {
  return typeof task === 'string' ? task : task.id;
}

/** Calls about any task, also of other clients. */
export class TaskGroup<Port extends OperatorPort = OperatorPort> {
  protected readonly port: Port;

  /** Made by the client. */
  constructor(port: Port) {
    this.port = port;
  }

  /** All tasks that match, newest first, page by page. */
  list(query: TaskQuery = {}): AsyncIterableIterator<ListedTask, void, undefined> {
    return eachItem((options) => this.page({ ...query, ...options }));
  }

  /** One page of the tasks that match, newest first. */
  page(query: TaskQuery & PageOptions = {}): Promise<Page<ListedTask>> {
    return traced(this.port.listTasks(query));
  }

  /** One task, with its output. */
  get<Output = unknown>(task: TaskReference): Promise<TaskView<Output>> {
    return traced(this.port.get(idOf(task))) as Promise<TaskView<Output>>;
  }

  /** Any number of tasks, in no particular order, and the ids of those that do not exist. */
  getMany(
    tasks: readonly TaskReference[],
  ): Promise<{ readonly items: readonly ListedTask[]; readonly unknown: readonly string[] }> {
    return traced(this.found(tasks.map(idOf)));
  }

  private async found(ids: readonly string[]) {
    const items: ListedTask[] = [];
    const unknown: string[] = [];
    const pending = [...new Set(ids)];
    while (pending.length > 0) {
      const some = await this.port.getTasks(pending.splice(0, IDS_MAX));
      items.push(...some.items);
      unknown.push(...some.unknown);
      // Tasks that did not fit into the answer.
      pending.push(...some.notIncluded);
    }
    return { items, unknown };
  }

  /**
   * Ends a task, or tells its worker to stop. Throws a `SluiceError` with code `task_finished` when
   * it had ended another way before.
   */
  cancel(task: TaskReference, options: CancelOptions = {}): Promise<TaskView> {
    return traced(this.port.cancel(idOf(task), options));
  }

  /** Cancels any number of tasks. There is one outcome per task, in order. */
  cancelMany(
    tasks: readonly TaskReference[],
    options: CancelOptions = {},
  ): Promise<readonly TaskOutcome[]> {
    const ids = tasks.map(idOf);
    return traced(inParts(ids, (part) => this.port.cancelTasks(part, options)));
  }

  /** Cancels all open tasks that match. With `dryRun` it only counts them. */
  cancelMatching(
    filter: TaskSelection,
    options: CancelMatchingOptions = {},
  ): Promise<CancelCounts> {
    return traced(this.port.cancelMatching(filter, options));
  }

  /**
   * Runs a task again that ended without success: the same id, and all its attempts again. With
   * `input` it gets another input.
   */
  retry(task: TaskReference, changes: RetryChanges = {}): Promise<TaskView> {
    return traced(this.port.retry(idOf(task), changes));
  }

  /** Runs any number of tasks again. There is one outcome per task, in order. */
  retryMany(tasks: readonly TaskReference[]): Promise<readonly TaskOutcome[]> {
    return traced(inParts(tasks.map(idOf), (part) => this.port.retryTasks(part)));
  }

  /** Runs all tasks again that match and did not succeed. With `dryRun` it only counts them. */
  retryMatching(filter: TaskSelection, options: RetryMatchingOptions = {}): Promise<RetryCounts> {
    return traced(this.port.retryMatching(filter, options));
  }

  /** Pauses a task that no worker holds. */
  pause(task: TaskReference): Promise<TaskView> {
    return traced(this.port.pause(idOf(task)));
  }

  /** Resumes a paused task. */
  resume(task: TaskReference): Promise<TaskView> {
    return traced(this.port.resume(idOf(task)));
  }

  /** Changes a task that no worker holds. What is absent stays, null clears. */
  update(task: TaskReference, changes: TaskChanges): Promise<TaskView> {
    return traced(this.port.update(idOf(task), changes));
  }

  /** Changes any number of tasks, each completely or not at all. One outcome per task, in order. */
  updateMany(updates: readonly TaskUpdate[]): Promise<readonly TaskOutcome[]> {
    return traced(inParts(updates, (part) => this.port.updateTasks(part)));
  }

  /** Why a task is not running. */
  explain(task: TaskReference): Promise<Explanation> {
    return traced(this.port.explain(idOf(task)));
  }

  /** The last lines that handlers of the task logged. */
  logs(task: TaskReference, options: LogOptions = {}): Promise<readonly LogLine[]> {
    return traced(this.port.logs(idOf(task), options));
  }
}

/** Calls about queues. There is one per task type. */
export class QueueGroup {
  private readonly port: OperatorPort;

  /** Made by the client. */
  constructor(port: OperatorPort) {
    this.port = port;
  }

  /** All queues. */
  list(): AsyncIterableIterator<QueueView, void, undefined> {
    return eachItem((options) => this.page(options));
  }

  /** One page of the queues. */
  page(options: PageOptions = {}): Promise<Page<QueueView>> {
    return traced(this.port.listQueues(options));
  }

  /** No task of the type is handed to a worker until the queue is resumed. Running ones go on. */
  pause(type: string): Promise<QueueView> {
    return traced(this.port.setQueuePaused(type, true));
  }

  resume(type: string): Promise<QueueView> {
    return traced(this.port.setQueuePaused(type, false));
  }
}

/** Calls about dead letters: tasks that failed or timed out for good. */
export class DeadLetterGroup<Port extends OperatorPort = OperatorPort> {
  protected readonly port: Port;

  /** Made by the client. */
  constructor(port: Port) {
    this.port = port;
  }

  /** All dead letters, oldest first. */
  list(filter: DeadLetterFilter = {}): AsyncIterableIterator<ListedTask, void, undefined> {
    return eachItem((options) => this.page({ ...filter, ...options }));
  }

  /** One page of the dead letters, oldest first. */
  page(query: DeadLetterQuery = {}): Promise<Page<ListedTask>> {
    return traced(this.port.listDeadLetters(query));
  }

  /** Runs dead letters again, at a limited rate. It continues after a restart of the server. */
  redrive(request: RedriveRequest = {}): Promise<RedriveReply> {
    return traced(this.port.redrive(request));
  }

  /** The redrives that are running. */
  redrives(): AsyncIterableIterator<RedriveView, void, undefined> {
    return eachItem((options) => traced(this.port.listRedrives(options)));
  }

  /** Stops a redrive. Tasks that it has not run again stay dead letters. */
  stopRedrive(id: string): Promise<void> {
    return traced(this.port.stopRedrive(id));
  }

  /** Removes tasks from the dead letters; they stay failed. */
  discard(request: DiscardRequest = {}): Promise<DiscardReply> {
    return traced(this.port.discard(request));
  }
}

/** Calls with as many items as one request may have, one after the other. */
async function inParts<T, R>(
  items: readonly T[],
  call: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let first = 0; first < items.length; first += IDS_MAX) {
    results.push(...(await call(items.slice(first, first + IDS_MAX))));
  }
  return results;
}
