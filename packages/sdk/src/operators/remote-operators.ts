import type { HttpRequest } from '../base/ports.ts';
import type { ApiRequest } from '../calls/api-calls.ts';
import {
  type Followed,
  FollowedStream,
  type FollowOptions as StreamOptions,
} from '../calls/followed-stream.ts';
import { bodyOf, type PromisedCall } from '../calls/promised-call.ts';
import type { CancelOptions } from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { RetryChanges, TaskChanges } from '../task/task-options.ts';
import type { TaskView } from '../task/task-view.ts';
import type { RunDefinition } from '../workflow/run-types.ts';
import type {
  CalendarWindow,
  CancelMatchingOptions,
  ChangeNotice,
  DeadLetterQuery,
  DiscardRequest,
  EventOptions,
  FollowLogOptions,
  FollowOptions,
  FollowStatsOptions,
  ListedTask,
  LogOptions,
  RetryMatchingOptions,
  ServerPort,
  StatsWindow,
  TaskEvent,
  TaskQuery,
  TaskSelection,
  TaskUpdate,
} from './operator-port.ts';
import type {
  CancelCounts,
  DiscardReply,
  ErrorGroups,
  Explanation,
  HistoryEntry,
  KeyRequest,
  KeyView,
  LogLine,
  NewKeyView,
  QueueView,
  RedriveReply,
  RedriveRequest,
  RedriveView,
  RetryCounts,
  StatsPoint,
  StatsView,
  TaskOutcome,
  TasksFound,
  WorkerView,
} from './operator-types.ts';
import type { Page, PageOptions } from './pages.ts';
import { queryText } from './query-text.ts';
import { RepeatedLines } from './repeated-lines.ts';
import type { ScheduleCalendar } from './schedule-types.ts';

/** What every stream of the client has in common. */
export type FollowSetup = Pick<
  StreamOptions<never>,
  'ports' | 'addresses' | 'giveUpAfterMs' | 'onClose'
>;

interface Parts {
  readonly call: PromisedCall;
  readonly tasks: TaskOperations;
  readonly follow: FollowSetup;
}

/** The operations of operators, over HTTP. */
export class RemoteOperators implements ServerPort {
  private readonly call: PromisedCall;
  private readonly tasks: TaskOperations;
  private readonly follow: FollowSetup;

  constructor({ call, tasks, follow }: Parts) {
    this.call = call;
    this.tasks = tasks;
    this.follow = follow;
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

  listTasks({ tags = {}, parentId, text, ...query }: TaskQuery & PageOptions) {
    const named = Object.entries(tags).map(([name, value]) => [`tag.${name}`, value]);
    const asked = { ...query, parent: parentId, q: text, ...Object.fromEntries(named) };
    return this.read<Page<ListedTask>>('/v1/tasks', asked);
  }

  getTasks(ids: readonly string[]): Promise<TasksFound> {
    return this.post('/v1/tasks/get', { ids });
  }

  async cancelTasks(
    ids: readonly string[],
    options: CancelOptions,
  ): Promise<readonly TaskOutcome[]> {
    return (await this.post<Items<TaskOutcome>>('/v1/tasks/cancel', { ids, ...options })).items;
  }

  cancelMatching(filter: TaskSelection, options: CancelMatchingOptions): Promise<CancelCounts> {
    return this.post('/v1/tasks/cancel', { filter, ...options });
  }

  /** Sent again, a task that failed meanwhile would run once more. */
  async retryTasks(ids: readonly string[]): Promise<readonly TaskOutcome[]> {
    const request = {
      method: 'POST',
      path: '/v1/tasks/retry',
      body: { ids },
      isOnce: true,
    } as const;
    return (await this.send<Items<TaskOutcome>>(request)).items;
  }

  retryMatching(filter: TaskSelection, options: RetryMatchingOptions): Promise<RetryCounts> {
    const body = { filter, ...options };
    const isOnce = options.dryRun !== true;
    return this.send({ method: 'POST', path: '/v1/tasks/retry', body, isOnce });
  }

  async updateTasks(updates: readonly TaskUpdate[]): Promise<readonly TaskOutcome[]> {
    const request = { method: 'PATCH', path: '/v1/tasks', body: updates } as const;
    return (await this.send<Items<TaskOutcome>>(request)).items;
  }

  retry(id: string, changes: RetryChanges): Promise<TaskView> {
    return this.tasks.retry(id, changes);
  }

  pause(id: string): Promise<TaskView> {
    return this.post(`${taskPath(id)}/pause`);
  }

  resume(id: string): Promise<TaskView> {
    return this.post(`${taskPath(id)}/resume`);
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    return (await this.read<Items<HistoryEntry>>(`${taskPath(id)}/history`)).items;
  }

  explain(id: string): Promise<Explanation> {
    return this.read(`${taskPath(id)}/explain`);
  }

  async logs(id: string, options: LogOptions): Promise<readonly LogLine[]> {
    return (await this.read<Items<LogLine>>(`${taskPath(id)}/logs`, options)).items;
  }

  followLogs(id: string, { signal }: FollowLogOptions): Followed<LogLine> {
    const lines = new RepeatedLines();
    return new FollowedStream<LogLine>({
      ...this.follow,
      path: `${taskPath(id)}/logs?follow=true`,
      hasIds: false,
      signal,
      begin: () => lines.begin(),
      read: ({ name, data }) => {
        if (name === 'end') return 'end';
        if (name !== 'lines') return [];
        return (JSON.parse(data) as LogLine[]).filter((line) => lines.isNew(line));
      },
    });
  }

  events({ task, type, after, signal }: EventOptions): Followed<TaskEvent> {
    return new FollowedStream<TaskEvent>({
      ...this.follow,
      path: `/v1/events${queryText({ task, type })}`,
      hasIds: true,
      after: after ?? undefined,
      signal,
      read: ({ name, data, id = null }) => {
        if (name !== 'change' && name !== 'gap') return [];
        return [{ kind: name, ...JSON.parse(data), lastEventId: id } as TaskEvent];
      },
    });
  }

  listQueues(page: PageOptions): Promise<Page<QueueView>> {
    return this.read('/v1/queues', page);
  }

  setQueuePaused(type: string, paused: boolean): Promise<QueueView> {
    const path = `/v1/queues/${encodeURIComponent(type)}`;
    return this.send({ method: 'PATCH', path, body: { paused } });
  }

  listDeadLetters(query: DeadLetterQuery): Promise<Page<ListedTask>> {
    return this.read('/v1/dead-letters', query);
  }

  groupDeadLetters(type: string | undefined): Promise<ErrorGroups> {
    return this.read('/v1/dead-letters/groups', { type });
  }

  /** A repeat would start a second redrive. */
  redrive(request: RedriveRequest): Promise<RedriveReply> {
    const path = '/v1/dead-letters/redrive';
    return this.send({ method: 'POST', path, body: request, isOnce: request.dryRun !== true });
  }

  changes({ signal }: FollowOptions): Followed<ChangeNotice> {
    return new FollowedStream<ChangeNotice>({
      ...this.follow,
      path: '/v1/changes',
      hasIds: false,
      signal,
      read: ({ name }) => (name === 'changed' ? [{ kind: 'changed' }] : []),
    });
  }

  stats(window: StatsWindow): Promise<StatsView> {
    return this.read('/v1/stats', { window });
  }

  followStats({ window, signal }: FollowStatsOptions): Followed<readonly StatsPoint[]> {
    return new FollowedStream<readonly StatsPoint[]>({
      ...this.follow,
      path: `/v1/stats${queryText({ window, follow: true })}`,
      hasIds: false,
      signal,
      read: ({ name, data }) => {
        if (name !== 'stats' && name !== 'points') return [];
        return [(JSON.parse(data) as StatsView).items];
      },
    });
  }

  runDefinition(id: string): Promise<RunDefinition> {
    return this.read(`/v1/runs/${encodeURIComponent(id)}/definition`);
  }

  scheduleCalendar(window: CalendarWindow): Promise<ScheduleCalendar> {
    return this.read('/v1/schedule-calendar', { window });
  }

  listRedrives(page: PageOptions): Promise<Page<RedriveView>> {
    return this.read('/v1/dead-letters/redrives', page);
  }

  async stopRedrive(id: string): Promise<void> {
    const path = `/v1/dead-letters/redrives/${encodeURIComponent(id)}`;
    await this.call({ method: 'DELETE', path, doneWhen: 'redrive_not_found' });
  }

  discard(request: DiscardRequest): Promise<DiscardReply> {
    return this.post('/v1/dead-letters/discard', request);
  }

  listWorkers(page: PageOptions): Promise<Page<WorkerView>> {
    return this.read('/v1/workers', page);
  }

  drainWorker(id: string): Promise<WorkerView> {
    return this.post(`/v1/workers/${encodeURIComponent(id)}/drain`);
  }

  createKey(request: KeyRequest): Promise<NewKeyView> {
    return this.send({ method: 'POST', path: '/v1/keys', body: request, isOnce: true });
  }

  listKeys(page: PageOptions): Promise<Page<KeyView>> {
    return this.read('/v1/keys', page);
  }

  async revokeKey(id: string): Promise<void> {
    const path = `/v1/keys/${encodeURIComponent(id)}`;
    await this.call({ method: 'DELETE', path, doneWhen: 'key_not_found' });
  }

  private read<T extends object>(path: string, query: object = {}): Promise<T> {
    return this.send({ method: 'GET', path: `${path}${queryText(query)}` });
  }

  private post<T extends object>(path: string, body?: object): Promise<T> {
    return this.send({ method: 'POST', path, ...(body === undefined ? {} : { body }) });
  }

  private async send<T extends object>({ body, ...request }: Sent): Promise<T> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return bodyOf<T>(await this.call({ ...request, ...text }));
  }
}

interface Items<T> {
  readonly items: readonly T[];
}

interface Sent extends Omit<ApiRequest, 'body'> {
  readonly method: HttpRequest['method'];
  readonly body?: object;
}

function taskPath(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}
