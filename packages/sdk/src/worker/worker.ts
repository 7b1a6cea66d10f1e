import type { PushedTask } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import type { Cancel } from '../base/ports.ts';
import { SYSTEM_PORTS } from '../base/system-ports.ts';
import type { Platform, Transport, WorkerUse } from '../calls/platform.ts';
import type { BlobPort } from '../calls/remote-blobs.ts';
import { closedError, errorOf } from '../calls/sluice-error.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import { type AnyTask, defaultsOf } from '../task/define-task.ts';
import type { Resources, TaskDefaults } from '../task/task-options.ts';
import type { TaskSubmits } from '../task/task-submits.ts';
import { differingFields } from './definition-drift.ts';
import { HandlerRuns } from './handler-runs.ts';
import { UseWatch } from './use-watch.ts';
import { guarded, writeFailure, writeTrouble } from './worker-lines.ts';
import type { SessionNotice } from './worker-ports.ts';
import { WorkerSession } from './worker-session.ts';

/** How long a stop waits for the server after the handlers' grace period. */
const FAREWELL_MS = 10_000;

const STOP_GRACE_MS_DEFAULT = 20_000;

export interface StopOptions {
  /** How long running handlers may continue before they are aborted and their tasks handed back. */
  readonly graceMs?: number;
}

/** A notice about the worker's state. */
export type WorkerNotice =
  | { readonly type: 'connected'; readonly address: string; readonly resumed: boolean }
  | { readonly type: 'disconnected'; readonly why: string; readonly retryInMs: number }
  /** The server did not accept a handler's final report, or its log lines. */
  | { readonly type: 'report_refused'; readonly why: string }
  /**
   * The worker's definition of a task differs from the registered one, in these fields. Reported
   * once per type.
   */
  | {
      readonly type: 'definition_differs';
      readonly taskType: string;
      readonly fields: readonly string[];
    }
  /** A listener of a handler threw; the handler keeps running. */
  | { readonly type: 'listener_failed'; readonly taskId: string; readonly cause: unknown };

export interface WorkOptions {
  /** How many tasks run at once; a task uses one slot unless it says otherwise. Default 100. */
  readonly slots?: number;
  /**
   * Resources of the worker. Without a value, cpu, memoryMb and diskMb are unlimited, and there is
   * no gpu and no custom resource.
   */
  readonly resources?: Omit<Resources, 'slots'>;
  /** How many tasks of each type run at once, by type; overrides the definitions. */
  readonly concurrency?: Record<string, number>;
  /** Labels that the `constraints` of tasks refer to. */
  readonly labels?: Record<string, string>;
  /** Default: the host name and the process id. */
  readonly name?: string;
  /** Version of the program. */
  readonly version?: string;
  /** After a silence of this length the server gives the tasks to other workers. Default 15 s. */
  readonly leaseMs?: number;
  /** Stop on SIGTERM and SIGINT. Default true. */
  readonly handleSignals?: boolean;
  /** How long a stop lets handlers continue. Default 20 s. */
  readonly stopGraceMs?: number;
  /**
   * Called with notices. Default: problems are written to the console, a repeated one only once.
   */
  readonly onNotice?: (notice: WorkerNotice) => void;
  /**
   * Called when an attempt starts, fails, is expected to be retried, and ends: for logs, error
   * trackers and traces. What it throws is written to the console and changes nothing.
   */
  readonly onAttempt?: (event: AttemptEvent) => void;
  /** Write one line per failed attempt to the console. Default true. */
  readonly logFailures?: boolean;
  /** Types that the worker takes no task of for now, and why: `explain` shows it. */
  readonly unavailable?: Readonly<Record<string, string>>;
  /**
   * Measures what the worker uses, for `GET /v1/workers`. Default: CPU and memory of this process.
   * An agent measures the programs that it runs.
   */
  readonly measure?: () => WorkerUse | Promise<WorkerUse>;
  /**
   * For a worker whose tasks outlive its process, such as an agent: the session of the process
   * before, and what is left of its tasks. Their handlers are called again at once.
   */
  readonly adopted?: AdoptedWork;
  /** Called with the id of the session, which is secret: it is all that `adopted` needs. */
  readonly onSession?: (sessionId: string) => void;
  /** Called when the server has answered how an attempt ended. One that is lost has no answer. */
  readonly onReported?: (lease: string) => void;
}

/** What a process leaves to the next one. */
interface AdoptedWork {
  readonly sessionId: string;
  /** Counts the processes that had the session; higher at each start. */
  readonly generation: number;
  readonly tasks: readonly AdoptedTask[];
}

/** A task that an earlier process took. Its input is not passed on. */
interface AdoptedTask {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lease: string;
  readonly resources: Resources;
  readonly exec?: unknown;
}

const WORK_FIELDS: FieldsOf<WorkOptions> = {
  slots: true,
  resources: true,
  concurrency: true,
  labels: true,
  name: true,
  version: true,
  leaseMs: true,
  handleSignals: true,
  stopGraceMs: true,
  onNotice: true,
  onAttempt: true,
  logFailures: true,
  unavailable: true,
  measure: true,
  adopted: true,
  onSession: true,
  onReported: true,
};

/** Throws a `TypeError` that names a misspelled option. */
export function checkWorkOptions(options: WorkOptions): void {
  refuseUnknownFields(options, WORK_FIELDS, 'the options of work');
}

interface WorkerSetup extends WorkOptions {
  readonly platform: Platform;
  readonly transport: Transport;
  readonly blobs: BlobPort;
  /** For the children of tasks. */
  readonly submits: TaskSubmits;
  /** The definition that the server has of a type; undefined when it has none. */
  readonly registered: (type: string) => Promise<TaskDefaults | undefined>;
  readonly addresses: readonly string[];
}

/** Runs tasks that the server pushes. Made by `Sluice.work`. */
export class Worker {
  readonly name: string;
  /** Resolves when the worker has stopped, for whatever reason. */
  readonly stopped: Promise<void>;
  private readonly tasks: readonly AnyTask[];
  private readonly setup: WorkerSetup;
  private readonly session: WorkerSession;
  private readonly runs: HandlerRuns;
  /** Undefined before the first welcome. */
  private useWatch: UseWatch | undefined;
  private readonly notice: (notice: WorkerNotice) => void;
  private readonly forgetSignals: Cancel;
  private resolveStopped: () => void = () => undefined;
  /** Settles the promise of `start`, which waits for the first welcome. */
  private starting: { resolve(): void; reject(cause: Error): void } | undefined;
  private isStopping = false;
  private hasCompared = false;
  private cancelGiveUp: Cancel = () => undefined;

  constructor(tasks: readonly AnyTask[], setup: WorkerSetup) {
    checkTasks(tasks);
    this.tasks = tasks;
    this.setup = setup;
    this.name = setup.name ?? setup.platform.workerName();
    this.notice = guarded('onNotice', setup.onNotice ?? writeTrouble(setup.addresses));
    this.stopped = new Promise((resolve) => {
      this.resolveStopped = resolve;
    });
    this.runs = this.makeRuns(tasks);
    this.session = this.makeSession(tasks);
    this.forgetSignals =
      setup.handleSignals === false
        ? () => undefined
        : setup.platform.onTermination(() => this.stop());
  }

  /** Resolves at the first welcome. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.starting = { resolve, reject };
      this.session.start();
    });
  }

  /**
   * Takes no new tasks, lets handlers end, waits for the answers to their reports, and leaves.
   * Resolves when all of that is done, or after a timeout. Tasks that were not reported by then are
   * run again by another worker.
   */
  async stop({ graceMs = this.setup.stopGraceMs ?? STOP_GRACE_MS_DEFAULT }: StopOptions = {}) {
    if (!this.isStopping) {
      this.isStopping = true;
      this.cancelGiveUp = SYSTEM_PORTS.startTimer(graceMs + FAREWELL_MS, () => this.over());
      this.session.stop(graceMs);
    }
    await this.stopped;
  }

  /** Replaces the resources of the worker. What runs already goes on, whether it fits or not. */
  changeResources(resources: Omit<Resources, 'slots'>): void {
    this.session.changeCapacity({ ...resources, slots: this.setup.slots ?? LIMITS.slotsDefault });
  }

  /** Takes no task of these types for now, and says why; takes those of all others. */
  changeUnavailable(reasons: Readonly<Record<string, string>>): void {
    this.session.changeUnavailable(new Map(Object.entries(reasons)));
  }

  private makeRuns(tasks: readonly AnyTask[]): HandlerRuns {
    return new HandlerRuns(tasks, {
      reports: {
        finish: (lease, ending) => this.session.finish(lease, ending),
        progress: (lease, progress) => this.session.progress(lease, progress),
        heartbeat: (lease) => this.session.heartbeat(lease),
        log: (lease, line) => this.session.log(lease, line),
      },
      blobs: this.setup.blobs,
      submits: this.setup.submits,
      now: SYSTEM_PORTS.wallTime,
      ticks: SYSTEM_PORTS.now,
      onAttempt: this.attemptHook(),
      onListenerError: (taskId, cause) => this.notice({ type: 'listener_failed', taskId, cause }),
    });
  }

  private makeSession(tasks: readonly AnyTask[]): WorkerSession {
    const { platform, transport, addresses, version, labels, leaseMs } = this.setup;
    const { slots, resources, concurrency = {}, unavailable = {}, adopted } = this.setup;
    return new WorkerSession(
      {
        name: this.name,
        types: tasks.map((task) => {
          const atOnce = concurrency[task.type] ?? task.concurrency;
          return atOnce === undefined
            ? { type: task.type }
            : { type: task.type, concurrency: atOnce };
        }),
        capacity: { ...resources, slots: slots ?? LIMITS.slotsDefault },
        addresses: addresses.length,
        unavailable: new Map(Object.entries(unavailable)),
        ...(adopted === undefined
          ? {}
          : { adopted: { ...adopted, tasks: adopted.tasks.map(pushed) } }),
        ...(version === undefined ? {} : { version }),
        ...(labels === undefined ? {} : { labels }),
        ...(leaseMs === undefined ? {} : { leaseMs }),
      },
      {
        ...SYSTEM_PORTS,
        atEndOfTurn: platform.atEndOfTurn,
        send: (request, answered) => transport.send(request, answered),
        openStream: (request, listener) => transport.openStream(request, listener),
        run: (task) => this.runs.run(task),
        abort: (lease, reason) => this.runs.abort(lease, reason),
        signal: (lease, name, data) => this.runs.signal(lease, name, data),
        notify: (notice) => this.heard(notice),
      },
    );
  }

  private watchUse(): UseWatch {
    const { measure, platform } = this.setup;
    return new UseWatch({
      startTimer: SYSTEM_PORTS.startTimer,
      measure: measure ?? platform.startMeter?.(),
      slots: () => this.runs.slots,
      tell: (use) => this.session.tellUse(use),
    });
  }

  private attemptHook(): (event: AttemptEvent) => void {
    const { onAttempt, logFailures = true } = this.setup;
    const told = onAttempt === undefined ? () => undefined : guarded('onAttempt', onAttempt);
    return (event) => {
      if (logFailures) writeFailure(event);
      told(event);
    };
  }

  private heard(notice: SessionNotice): void {
    const { addresses } = this.setup;
    switch (notice.type) {
      case 'welcomed': {
        const { address, resumed } = notice;
        this.notice({ type: 'connected', address: addresses[address], resumed });
        this.setup.onSession?.(notice.sessionId);
        this.starting?.resolve();
        this.useWatch ??= this.watchUse();
        // Without an answer there is nothing to report.
        this.compareDefinitions().catch(() => undefined);
        return;
      }
      case 'disconnected':
        this.notice(notice);
        return;
      case 'report_answered':
        this.setup.onReported?.(notice.lease);
        if (notice.outcome === 'ok' || notice.outcome === 'duplicate') return;
        // It stopped on request, so a refused report is no problem.
        if (notice.kind === 'cancelled') return;
        this.notice({ type: 'report_refused', why: notice.outcome });
        return;
      case 'lines_refused':
        this.notice({ type: 'report_refused', why: 'log lines of a handler are invalid' });
        return;
      case 'offer_refused':
        return;
      case 'over':
        this.over(notice.refusal === undefined ? undefined : errorOf(notice.refusal));
    }
  }

  /** One after the other, because a worker may have many types and no hurry. */
  private async compareDefinitions(): Promise<void> {
    if (this.hasCompared) return;
    this.hasCompared = true;
    for (const task of this.tasks) {
      const registered = await this.setup.registered(task.type);
      if (this.isStopping) return;
      const fields = registered === undefined ? [] : differingFields(defaultsOf(task), registered);
      if (fields.length === 0) continue;
      this.notice({ type: 'definition_differs', taskType: task.type, fields });
    }
  }

  private over(refusal: Error = closedError()): void {
    this.session.abandon();
    this.useWatch?.stop();
    this.cancelGiveUp();
    this.forgetSignals();
    this.starting?.reject(refusal);
    this.resolveStopped();
  }
}

function pushed(task: AdoptedTask): PushedTask {
  return { ...task, input: null };
}

function checkTasks(tasks: readonly AnyTask[]): void {
  const types = new Set<string>();
  for (const { type, run } of tasks) {
    if (run === undefined) throw new TypeError(`the task '${type}' has no handler to run`);
    if (types.has(type)) throw new TypeError(`two tasks have the type '${type}'`);
    types.add(type);
  }
  if (types.size === 0) throw new TypeError('a worker needs at least one task to run');
}
