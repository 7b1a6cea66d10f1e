import type { Followed } from '../calls/followed-stream.ts';
import type { TaskView as ApiTaskView } from '../task/api-types.ts';
import type { CancelOptions } from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { TaskChanges } from '../task/task-options.ts';
import type { TaskView } from '../task/task-view.ts';
import type { RunDefinition } from '../workflow/run-types.ts';
import type {
  CancelCounts,
  DeadLetterFilter,
  DiscardReply,
  ErrorGroups,
  EventGap,
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
  TaskChange,
  TaskFilter,
  TaskOutcome,
  TasksFound,
  WorkerView,
} from './operator-types.ts';
import type { Page, PageOptions } from './pages.ts';
import type { ScheduleCalendar } from './schedule-types.ts';

/** A task in a list. An output that is a blob is not downloaded: then `outputBlob` names it. */
export type ListedTask = ApiTaskView;

/** Selects tasks: all given conditions must hold. */
export interface TaskSelection extends Omit<TaskFilter, 'since' | 'until'> {
  /** Submitted at this time or later: a date, ISO 8601, or milliseconds since 1970. */
  readonly since?: Date | string | number;
  /** Submitted before this time. */
  readonly until?: Date | string | number;
}

export interface TaskQuery extends TaskSelection {
  /** Text in the input, output or error. */
  readonly text?: string;
}

export interface CancelMatchingOptions extends CancelOptions {
  /** Only counts the tasks, and cancels none. */
  readonly dryRun?: boolean;
}

export interface RetryMatchingOptions {
  /** Only counts the tasks, and retries none. */
  readonly dryRun?: boolean;
}

export interface TaskUpdate extends TaskChanges {
  readonly id: string;
}

export interface LogOptions {
  /** Only lines of this attempt. */
  readonly attempt?: number;
  /** Number of last lines; fewer if they are very long. */
  readonly limit?: number;
}

export interface FollowLogOptions {
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface EventOptions {
  /** Only changes of this task. */
  readonly task?: string;
  /** Only changes of tasks of this type. */
  readonly type?: string;
  /**
   * `lastEventId` of an event: what happened after it. Null or undefined: what happens from now on.
   */
  readonly after?: string | null | undefined;
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface FollowOptions {
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** There is something new to read; it does not say what. */
export interface ChangeNotice {
  readonly kind: 'changed';
}

/** One point per second, per minute or per hour. */
export type StatsWindow = '10m' | '24h' | '30d';

export interface FollowStatsOptions extends FollowOptions {
  /** Default `10m`. */
  readonly window?: StatsWindow;
}

/** A count for each quarter of an hour, or for each hour. */
export type CalendarWindow = '24h' | '30d';

interface EventPlace {
  /**
   * To continue after this event later, pass it as `after`. Some events may come again then. Null
   * while there is no id.
   */
  readonly lastEventId: string | null;
}

/** A task changed its state, or changes were missed. */
export type TaskEvent =
  | (TaskChange & EventPlace & { readonly kind: 'change' })
  | (EventGap & EventPlace & { readonly kind: 'gap' });

export interface DeadLetterQuery extends DeadLetterFilter, PageOptions {}

export type DiscardRequest = Pick<RedriveRequest, 'filter' | 'dryRun'>;

/** Operations for operators that a server and a server in the same process both have. */
export interface OperatorPort extends Pick<TaskOperations, 'get' | 'cancel' | 'update' | 'retry'> {
  listTasks(query: TaskQuery & PageOptions): Promise<Page<ListedTask>>;
  /** At most 1,000 ids. */
  getTasks(ids: readonly string[]): Promise<TasksFound>;
  cancelTasks(ids: readonly string[], options: CancelOptions): Promise<readonly TaskOutcome[]>;
  cancelMatching(filter: TaskSelection, options: CancelMatchingOptions): Promise<CancelCounts>;
  retryTasks(ids: readonly string[]): Promise<readonly TaskOutcome[]>;
  retryMatching(filter: TaskSelection, options: RetryMatchingOptions): Promise<RetryCounts>;
  updateTasks(updates: readonly TaskUpdate[]): Promise<readonly TaskOutcome[]>;
  pause(id: string): Promise<TaskView>;
  resume(id: string): Promise<TaskView>;
  explain(id: string): Promise<Explanation>;
  logs(id: string, options: LogOptions): Promise<readonly LogLine[]>;
  events(options: EventOptions): Followed<TaskEvent>;
  listQueues(page: PageOptions): Promise<Page<QueueView>>;
  setQueuePaused(type: string, paused: boolean): Promise<QueueView>;
  listDeadLetters(query: DeadLetterQuery): Promise<Page<ListedTask>>;
  redrive(request: RedriveRequest): Promise<RedriveReply>;
  listRedrives(page: PageOptions): Promise<Page<RedriveView>>;
  stopRedrive(id: string): Promise<void>;
  discard(request: DiscardRequest): Promise<DiscardReply>;
}

/** Operations that only a server has. */
export interface ServerPort extends OperatorPort {
  history(id: string): Promise<readonly HistoryEntry[]>;
  followLogs(id: string, options: FollowLogOptions): Followed<LogLine>;
  groupDeadLetters(type: string | undefined): Promise<ErrorGroups>;
  changes(options: FollowOptions): Followed<ChangeNotice>;
  stats(window: StatsWindow): Promise<StatsView>;
  followStats(options: FollowStatsOptions): Followed<readonly StatsPoint[]>;
  runDefinition(id: string): Promise<RunDefinition>;
  scheduleCalendar(window: CalendarWindow): Promise<ScheduleCalendar>;
  listWorkers(page: PageOptions): Promise<Page<WorkerView>>;
  drainWorker(id: string): Promise<WorkerView>;
  createKey(request: KeyRequest): Promise<NewKeyView>;
  listKeys(page: PageOptions): Promise<Page<KeyView>>;
  revokeKey(id: string): Promise<void>;
}
