import type { Followed } from '../calls/followed-stream.ts';
import { traced } from '../calls/traced.ts';
import type { RunDefinition } from '../workflow/run-types.ts';
import { DeadLetterGroup, idOf, TaskGroup, type TaskReference } from './operator-groups.ts';
import type {
  CalendarWindow,
  FollowLogOptions,
  FollowStatsOptions,
  ServerPort,
  StatsWindow,
} from './operator-port.ts';
import type {
  ErrorGroups,
  HistoryEntry,
  KeyRequest,
  KeyView,
  LogLine,
  NewKeyView,
  StatsPoint,
  StatsView,
  WorkerView,
} from './operator-types.ts';
import { eachItem, type Page, type PageOptions } from './pages.ts';
import { RunGroup, type RunReference } from './run-groups.ts';
import type { RunPort } from './run-port.ts';
import { ScheduleGroup } from './schedule-group.ts';
import type { SchedulePort } from './schedule-port.ts';
import type { ScheduleCalendar } from './schedule-types.ts';

/** Calls about tasks of a server. */
export class ServerTaskGroup extends TaskGroup<ServerPort> {
  /** Every change of the task, oldest first. */
  history(task: TaskReference): Promise<readonly HistoryEntry[]> {
    return traced(this.port.history(idOf(task)));
  }

  /** The lines that handlers of the task log, as they arrive, until the task has ended. */
  followLogs(task: TaskReference, options: FollowLogOptions = {}): Followed<LogLine> {
    return this.port.followLogs(idOf(task), options);
  }
}

/** Calls about dead letters of a server. */
export class ServerDeadLetterGroup extends DeadLetterGroup<ServerPort> {
  /** Counts dead letters by error, of one type or of all. */
  groups(type?: string): Promise<ErrorGroups> {
    return traced(this.port.groupDeadLetters(type));
  }
}

/** Calls about runs of a server. */
export class ServerRunGroup extends RunGroup {
  private readonly server: ServerPort;

  /** Made by the client. */
  constructor(port: RunPort, server: ServerPort) {
    super(port);
    this.server = server;
  }

  /**
   * The definition that a run follows. One that came with the run is there as long as the run is in
   * memory, a registered one as long as it is registered.
   */
  definition(run: RunReference): Promise<RunDefinition> {
    return traced(this.server.runDefinition(typeof run === 'string' ? run : run.id));
  }
}

/** Calls about schedules of a server. */
export class ServerScheduleGroup extends ScheduleGroup {
  private readonly server: ServerPort;

  /** Made by the client. */
  constructor(port: SchedulePort, server: ServerPort) {
    super(port);
    this.server = server;
  }

  /** How often all active schedules fire in each interval of the next day or month. */
  calendar(window: CalendarWindow = '24h'): Promise<ScheduleCalendar> {
    return traced(this.server.scheduleCalendar(window));
  }
}

/** Figures of the server over time. */
export class StatsGroup {
  private readonly port: ServerPort;

  /** Made by the client. */
  constructor(port: ServerPort) {
    this.port = port;
  }

  /** The points of a window, oldest first. */
  get(window: StatsWindow = '10m'): Promise<StatsView> {
    return traced(this.port.stats(window));
  }

  /**
   * All points first, then every second those that are new or have grown. After a lost connection
   * all points come again.
   */
  follow(options: FollowStatsOptions = {}): Followed<readonly StatsPoint[]> {
    return this.port.followStats(options);
  }
}

/** Calls about the workers that are connected. */
export class WorkerGroup {
  private readonly port: ServerPort;

  /** Made by the client. */
  constructor(port: ServerPort) {
    this.port = port;
  }

  /** All workers. */
  list(): AsyncIterableIterator<WorkerView, void, undefined> {
    return eachItem((options) => this.page(options));
  }

  /** One page of the workers. */
  page(options: PageOptions = {}): Promise<Page<WorkerView>> {
    return traced(this.port.listWorkers(options));
  }

  /** The worker gets no new tasks, and finishes those that it holds. */
  drain(id: string): Promise<WorkerView> {
    return traced(this.port.drainWorker(id));
  }
}

/** Calls about access keys. They need a key with the role `admin`. */
export class KeyGroup {
  private readonly port: ServerPort;

  /** Made by the client. */
  constructor(port: ServerPort) {
    this.port = port;
  }

  /**
   * Creates a key, or the successor of another. Its text is shown only here.
   *
   * It is not sent again after a lost connection, because that could create two keys: then it
   * throws a `SluiceError` with code `no_answer`, and `list` shows whether the key exists.
   */
  create(request: KeyRequest): Promise<NewKeyView> {
    return traced(this.port.createKey(request));
  }

  /** All keys, oldest first, without their text. */
  list(): AsyncIterableIterator<KeyView, void, undefined> {
    return eachItem((options) => this.page(options));
  }

  /** One page of the keys, oldest first. */
  page(options: PageOptions = {}): Promise<Page<KeyView>> {
    return traced(this.port.listKeys(options));
  }

  /** The key stops working at once, and its streams are closed. */
  revoke(id: string): Promise<void> {
    return traced(this.port.revokeKey(id));
  }
}
