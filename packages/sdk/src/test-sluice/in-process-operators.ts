import {
  DEFAULT_NAMESPACE,
  isTerminal,
  NO_SLOT,
  queueKey,
  type Slot,
  SUCCEEDED,
  TASK_STATES,
  taskTypeOf,
} from '@sluice/core';
import { LIMITS } from '@sluice/protocol/limits';
import type { Followed } from '../calls/followed-stream.ts';
import { errorOf, SluiceError } from '../calls/sluice-error.ts';
import type {
  CancelMatchingOptions,
  DeadLetterQuery,
  DiscardRequest,
  EventOptions,
  ListedTask,
  LogOptions,
  OperatorPort,
  RetryMatchingOptions,
  TaskEvent,
  TaskQuery,
  TaskSelection,
  TaskUpdate,
} from '../operators/operator-port.ts';
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
  TasksFound,
} from '../operators/operator-types.ts';
import type { Page, PageOptions } from '../operators/pages.ts';
import type { CancelOptions } from '../task/task-handle.ts';
import type { RetryChanges, TaskChanges } from '../task/task-options.ts';
import type { TaskView } from '../task/task-view.ts';
import { InProcessEvents } from './in-process-events.ts';
import { type InProcessTasks, refusal } from './in-process-tasks.ts';
import { check } from './server/checked-requests.ts';
import {
  checkTimes,
  matchingSlots,
  pageOf,
  queueTypes,
  queueView,
  sentFilter,
  sortable,
} from './server/in-process-lists.ts';
import type { InProcessServer } from './server/in-process-server.ts';
import { taskIdOf } from './server/task-views.ts';
import type { TestLogs } from './test-logs.ts';

const namespace = DEFAULT_NAMESPACE;
const RATE_DEFAULT = 100;
const REDRIVE_PREFIX = 'd_';

interface Parts {
  readonly server: InProcessServer;
  readonly tasks: InProcessTasks;
  readonly logs: TestLogs;
}

/** The operations of operators, on a server in the same process. */
export class InProcessOperators implements OperatorPort {
  private readonly server: InProcessServer;
  private readonly tasks: InProcessTasks;
  private readonly lines: TestLogs;
  private readonly changes: InProcessEvents;

  constructor({ server, tasks, logs }: Parts) {
    this.server = server;
    this.tasks = tasks;
    this.lines = logs;
    this.changes = new InProcessEvents(server);
  }

  get(id: string): Promise<TaskView> {
    return this.tasks.get(id);
  }

  cancel(id: string, options: CancelOptions): Promise<TaskView> {
    return this.tasks.cancel(id, options);
  }

  update(id: string, changes: TaskChanges): Promise<TaskView> {
    return this.tasks.update(id, changes);
  }

  async listTasks(query: TaskQuery & PageOptions): Promise<Page<ListedTask>> {
    const { limit, cursor, ...filter } = query;
    const sent = sentFilter(filter);
    const { tags: _, parentId, text, ...rest } = sent;
    const named = { ...rest, ...given({ limit, cursor, parent: parentId, q: text }) };
    check('TaskListQuery', named);
    checkTimes(sent, '', 'the query string is not valid');
    const { tasks } = this.state;
    const placed = matchingSlots(this.state, sent).map((slot) => ({
      // The newest come first.
      place: sortable(Number.MAX_SAFE_INTEGER - tasks.number[slot]),
      show: () => this.server.view(slot),
    }));
    return pageOf(placed, query, this.server.now);
  }

  async getTasks(ids: readonly string[]): Promise<TasksFound> {
    check('GetTasksRequest', { ids });
    const found = ids.map((id) => ({ id, slot: this.server.find(id) }));
    return {
      items: found.flatMap(({ slot }) => (slot === undefined ? [] : [this.server.view(slot)])),
      unknown: found.flatMap(({ id, slot }) => (slot === undefined ? [id] : [])),
      notIncluded: [],
    };
  }

  async cancelTasks(
    ids: readonly string[],
    { graceMs = LIMITS.graceMsDefault }: CancelOptions,
  ): Promise<readonly TaskOutcome[]> {
    check('CancelTasksRequest', { ids, graceMs });
    const command = { type: 'cancel_tasks', namespace, ids, graceMs } as const;
    return this.server.execute(command, ({ outcomes }, { tasks }) => {
      return outcomes.map(({ rejection, slot }, place): TaskOutcome => {
        const id = ids[place];
        if (rejection === undefined) return { id, ok: true, state: TASK_STATES[tasks.state[slot]] };
        const { code, message } = refusal(rejection, id);
        return { id, error: { code, message } };
      });
    });
  }

  async cancelMatching(
    filter: TaskSelection,
    { graceMs, dryRun = false }: CancelMatchingOptions,
  ): Promise<CancelCounts> {
    const sent = sentFilter(filter);
    check('CancelTasksRequest', { filter: sent, dryRun, ...given({ graceMs }) });
    checkTimes(sent, '/filter', 'the body is not valid');
    const { state } = this;
    const open = matchingSlots(state, sent).filter((slot) => !isTerminal(state.tasks.state[slot]));
    const ids = open.map((slot) => taskIdOf(state, slot));
    if (dryRun || ids.length === 0) {
      return { matched: ids.length, cancelled: 0, requested: 0, dryRun };
    }
    const command = { type: 'cancel_tasks', namespace, ids } as const;
    const grace = graceMs ?? LIMITS.graceMsDefault;
    return this.server.execute({ ...command, graceMs: grace }, ({ outcomes }, { tasks }) => {
      const ended = outcomes.filter(({ slot }) => isTerminal(tasks.state[slot])).length;
      const requested = outcomes.length - ended;
      return { matched: ids.length, cancelled: ended, requested, dryRun };
    });
  }

  async retryTasks(ids: readonly string[]): Promise<readonly TaskOutcome[]> {
    check('RetryTasksRequest', { ids });
    const command = { type: 'retry_tasks', namespace, ids } as const;
    return this.server.execute(command, ({ outcomes }, { tasks }) => {
      return outcomes.map(({ rejection, slot }, place): TaskOutcome => {
        const id = ids[place];
        if (rejection === undefined) return { id, ok: true, state: TASK_STATES[tasks.state[slot]] };
        const { code, message } = refusal(rejection, id);
        return { id, error: { code, message } };
      });
    });
  }

  async retryMatching(
    filter: TaskSelection,
    { dryRun = false }: RetryMatchingOptions,
  ): Promise<RetryCounts> {
    const sent = sentFilter(filter);
    check('RetryTasksRequest', { filter: sent, dryRun });
    checkTimes(sent, '/filter', 'the body is not valid');
    const { state } = this;
    const ended = matchingSlots(state, sent).filter((slot) => {
      return isTerminal(state.tasks.state[slot]) && state.tasks.state[slot] !== SUCCEEDED;
    });
    const ids = ended.map((slot) => taskIdOf(state, slot));
    if (dryRun || ids.length === 0) return { matched: ids.length, retried: 0, dryRun };
    const outcomes = await this.retryTasks(ids);
    const retried = outcomes.filter((outcome) => 'ok' in outcome).length;
    return { matched: ids.length, retried, dryRun };
  }

  async updateTasks(updates: readonly TaskUpdate[]): Promise<readonly TaskOutcome[]> {
    const outcomes: TaskOutcome[] = [];
    for (const [place, { id, ...changes }] of updates.entries()) {
      try {
        const { state } = await this.tasks.update(id, changes);
        outcomes.push({ id, ok: true, state });
      } catch (cause) {
        if (!(cause instanceof SluiceError)) throw cause;
        if (cause.status === 400) throw placedAt(cause, place);
        outcomes.push({ id, error: { code: cause.code, message: cause.message } });
      }
    }
    return outcomes;
  }

  retry(id: string, changes: RetryChanges): Promise<TaskView> {
    return this.tasks.retry(id, changes);
  }

  async pause(id: string): Promise<TaskView> {
    const command = { type: 'pause_task', namespace, id } as const;
    return this.server.execute(command, (outcome) => this.viewAfter(id, outcome));
  }

  async resume(id: string): Promise<TaskView> {
    const command = { type: 'resume_task', namespace, id } as const;
    return this.server.execute(command, (outcome) => this.viewAfter(id, outcome));
  }

  async explain(id: string): Promise<Explanation> {
    return this.server.partition.explain(this.tasks.slotOf(id));
  }

  async logs(id: string, { attempt, limit = LIMITS.logLinesDefault }: LogOptions) {
    this.tasks.slotOf(id);
    const all = this.lines.of(id).filter((line) => (attempt ?? line.attempt) === line.attempt);
    return all.slice(-limit) as readonly LogLine[];
  }

  events(options: EventOptions): Followed<TaskEvent> {
    const { task, type } = options;
    check('EventQuery', given({ task, type }));
    return this.changes.follow(options);
  }

  async listQueues(page: PageOptions): Promise<Page<QueueView>> {
    check('ListQuery', given(page));
    const { partition, now } = this.server;
    const placed = queueTypes(partition).map((type) => {
      return { place: type, show: () => queueView(partition, type, now) };
    });
    return pageOf(placed, page, now);
  }

  async setQueuePaused(type: string, paused: boolean): Promise<QueueView> {
    check('TypeParams', { type });
    this.server.execute({ type: 'set_queue_paused', namespace, taskType: type, paused });
    return queueView(this.server.partition, type, this.server.now);
  }

  async listDeadLetters(query: DeadLetterQuery): Promise<Page<ListedTask>> {
    check('DeadLetterQuery', given(query));
    refuseFingerprint(query, '/fingerprint');
    const { tasks } = this.state;
    const placed = this.deadLetters(query.type).map((slot) => ({
      place: `${sortable(tasks.endedAt[slot])}.${sortable(tasks.number[slot])}`,
      show: () => this.server.view(slot),
    }));
    return pageOf(placed, query, this.server.now);
  }

  async redrive(request: RedriveRequest): Promise<RedriveReply> {
    check('RedriveRequest', request);
    const { filter = {}, ratePerSec = RATE_DEFAULT, dryRun = false } = request;
    refuseFingerprint(filter, '/filter/fingerprint');
    if (dryRun) return { id: null, count: this.deadLetters(filter.type).length, dryRun };
    const command = { type: 'start_redrive', namespace, ratePerSec } as const;
    const scope = given({ taskType: filter.type });
    const reply = this.server.execute({ ...command, ...scope }, (begun) => {
      if (begun.rejection === undefined) return begun;
      throw new SluiceError('overloaded', 'too many redrives are running', { status: 429 });
    });
    // The first ones run again at once.
    this.server.advanceTo(this.server.now);
    return { id: `${REDRIVE_PREFIX}${reply.redrive}`, count: reply.count, dryRun };
  }

  async listRedrives(page: PageOptions): Promise<Page<RedriveView>> {
    check('ListQuery', given(page));
    const placed = [...this.state.redrives.entries()].map(([number, redrive]) => ({
      place: sortable(number),
      show: () => ({
        id: `${REDRIVE_PREFIX}${number}`,
        type: redrive.taskType === '' ? null : taskTypeOf(redrive.taskType),
        ratePerSec: redrive.ratePerSec,
        startedAt: new Date(redrive.startedAt).toISOString(),
        done: redrive.done,
      }),
    }));
    return pageOf(placed, page, this.server.now);
  }

  async stopRedrive(id: string): Promise<void> {
    const redrive = Number(/^d_(\d{1,15})$/.exec(id)?.[1] ?? 0);
    this.server.execute({ type: 'end_redrive', namespace, redrive }, ({ found }) => {
      if (found) return;
      throw new SluiceError('redrive_not_found', `no redrive '${id}' is running`, { status: 404 });
    });
  }

  async discard(request: DiscardRequest): Promise<DiscardReply> {
    check('DiscardRequest', request);
    const { filter = {}, dryRun = false } = request;
    refuseFingerprint(filter, '/filter/fingerprint');
    const matched = this.deadLetters(filter.type).length;
    if (dryRun) return { matched, discarded: 0, dryRun };
    const command = { type: 'discard_dead_letters', namespace } as const;
    const scope = given({ taskType: filter.type });
    for (let isMore = true; isMore; ) {
      isMore = this.server.execute({ ...command, ...scope }, ({ more }) => more);
    }
    return { matched, discarded: matched, dryRun };
  }

  private get state() {
    return this.server.partition.state;
  }

  private viewAfter(
    id: string,
    { rejection, slot }: { readonly rejection?: string; readonly slot: Slot },
  ): TaskView {
    if (rejection !== undefined) throw refusal(rejection, id);
    return this.server.view(slot);
  }

  private deadLetters(type: string | undefined): Slot[] {
    const { tasks, deadLetters } = this.state;
    const queue = type === undefined ? undefined : this.state.queueOf(queueKey(namespace, type));
    if (type !== undefined && queue === undefined) return [];
    const links = queue === undefined ? tasks.nextHeld : tasks.next;
    const slots: Slot[] = [];
    let slot =
      queue === undefined
        ? deadLetters.firstOfNamespace(namespace)
        : deadLetters.firstOfQueue(queue.index);
    for (; slot !== NO_SLOT; slot = links[slot] as Slot) slots.push(slot);
    return slots;
  }
}

/** The fields that are neither undefined nor null. */
function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value != null);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Errors are grouped by the server's search, which does not exist here. */
function refuseFingerprint({ fingerprint }: DeadLetterFilter, path: string): void {
  if (fingerprint === undefined) return;
  const details = [{ path, problem: 'is not available in TestSluice' }];
  const message = `${path} is not available in TestSluice`;
  throw errorOf({ status: 400, code: 'invalid_request', message, details });
}

/** The error of one of many updates. */
function placedAt({ status, code, message, details }: SluiceError, place: number): SluiceError {
  const moved = details.map(({ path, problem }) => ({ path: `/${place}${path}`, problem }));
  const [first] = details;
  const text = first === undefined ? message : message.replace(first.path, moved[0].path);
  return new SluiceError(code, text, { status, details: moved });
}
