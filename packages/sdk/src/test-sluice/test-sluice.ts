import { DEFAULT_NAMESPACE, type Slot, taskIdText } from '@sluice/core';
import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import { messageOf } from '../base/shown-value.ts';
import { SluiceError } from '../calls/sluice-error.ts';
import { NamedTypes } from '../client/named-types.ts';
import { RunStarts } from '../client/run-starts.ts';
import { pathOfTask, type Submitted, TaskClient } from '../client/task-client.ts';
import { DeadLetterGroup, QueueGroup, TaskGroup } from '../operators/operator-groups.ts';
import type { OperatorPort } from '../operators/operator-port.ts';
import { RunGroup, WorkflowGroup } from '../operators/run-groups.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import type { AnyTask, TaskBody } from '../task/define-task.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { Resources, TaskDefaults } from '../task/task-options.ts';
import { finalReport } from '../worker/final-reports.ts';
import { HandlerRuns } from '../worker/handler-runs.ts';
import { guarded } from '../worker/worker-lines.ts';
import { InProcessOperators } from './in-process-operators.ts';
import { InProcessTasks, type WaitFor } from './in-process-tasks.ts';
import { RunningHandlers } from './running-handlers.ts';
import { InProcessRuns } from './runs/in-process-runs.ts';
import { runView } from './runs/run-views.ts';
import { definitionOf, taskSpecs } from './server/checked-requests.ts';
import { InProcessServer } from './server/in-process-server.ts';
import { dedupeClaims, joinedPayloads } from './server/payloads.ts';
import { TestBlobs } from './server/test-blobs.ts';
import { TestLogs } from './test-logs.ts';
import { TestWaits, turn } from './test-waits.ts';

export { httpMock, type MockedAnswer, type MockedRequest } from './runs/http-mock.ts';

export interface TestSluiceOptions {
  /** Start time of the virtual clock. Default 2030-01-01. */
  readonly startAt?: Date | string | number;
  /** The same seed gives the same jitter. Default 1. */
  readonly seed?: number;
  /** Default 100. */
  readonly slots?: number;
  /** Resources of the worker. Default: any amount of what the definitions need. */
  readonly resources?: Omit<Resources, 'slots'>;
  readonly labels?: Record<string, string>;
  /** Time passes only by `advance`, even during a wait for a task. Default false. */
  readonly manualTime?: boolean;
  /**
   * In handlers, `setTimeout`, `setInterval`, `setTimeout` of `node:timers/promises` and `Date` use
   * the virtual clock. Default false: they are real.
   */
  readonly fakeTimers?: boolean;
  /** Called with errors that signal listeners throw. Default: they are written to the console. */
  readonly onListenerError?: (taskId: string, cause: unknown) => void;
  /** Called as by a worker. `TestSluice` writes no lines about failed attempts. */
  readonly onAttempt?: (event: AttemptEvent) => void;
  /** Called with warnings, as by a client. `TestSluice` writes none itself. */
  readonly onWarning?: (message: string) => void;
}

const FIELDS: FieldsOf<TestSluiceOptions> = {
  startAt: true,
  seed: true,
  slots: true,
  resources: true,
  labels: true,
  manualTime: true,
  fakeTimers: true,
  onListenerError: true,
  onAttempt: true,
  onWarning: true,
};

/** Number of turns without a command before `advance` lets time pass. */
const QUIET_TURNS = 3;
const TURNS_MAX = 1000;

const PLENTY = 1_000_000;

/**
 * A Sluice server, a worker and a client in this process, on a virtual clock: for tests of
 * handlers.
 *
 * Retries, delays, timeouts, priorities, cancel and signals use the same code as on a server. While
 * a test waits for a task, time jumps from one due event to the next, but only when every running
 * handler waits for tasks itself (or for a timer, with `fakeTimers`). While a handler does anything
 * else, time stands still, unless `advance` moves it.
 */
export class TestSluice extends TaskClient {
  override readonly tasks: TaskGroup;
  override readonly deadLetters: DeadLetterGroup;
  override readonly queues: QueueGroup;
  override readonly runs: RunGroup;
  override readonly workflows: WorkflowGroup;
  protected readonly operations: TaskOperations;
  protected readonly starts: RunStarts;
  protected readonly operators: OperatorPort;
  private readonly server: InProcessServer;
  private readonly handlerRuns: HandlerRuns;
  private readonly handlers: RunningHandlers;
  private readonly waits: TestWaits;
  private readonly blobs = new TestBlobs();
  private readonly logs = new TestLogs();
  private readonly namedTypes: NamedTypes;

  constructor(tasks: readonly AnyTask[], options: TestSluiceOptions = {}) {
    super();
    refuseUnknownFields(options, FIELDS, 'the options of TestSluice');
    const { startAt = Date.UTC(2030, 0, 1), seed = 1, labels = {}, manualTime = false } = options;
    this.handlers = new RunningHandlers({
      fakeTimers: options.fakeTimers ?? false,
      now: () => this.server.now,
      onTimers: () => this.waits.kick(),
    });
    this.handlerRuns = this.makeRuns(tasks, options);
    this.server = new InProcessServer(
      {
        startAt: new Date(startAt).getTime(),
        seed,
        labels,
        types: tasks.filter(({ run }) => run !== undefined).map(offered),
        capacity: { ...(options.resources ?? plentyFor(tasks)), slots: options.slots ?? 100 },
        blobs: this.blobs,
      },
      {
        pushed: (attempt) => {
          this.logs.begin(attempt);
          this.handlers.start(attempt.lease, () => this.handlerRuns.run(attempt));
        },
        stop: (lease, reason) => {
          this.handlers.within(lease, () => this.handlerRuns.abort(lease, reason));
        },
        signalled: (lease, name, data) => {
          this.handlers.within(lease, () => this.handlerRuns.signal(lease, name, data));
        },
        ended: (task) => this.waits.ended(task.id, task),
        runEnded: (run) => this.runEnded(run),
      },
    );
    this.waits = new TestWaits({ server: this.server, handlers: this.handlers, manualTime });
    this.server.onCommand = () => this.waits.kick();
    const waitFor: WaitFor = (id, wait, show) => this.waits.wait(id, wait, show);
    const operations = new InProcessTasks(this.server, this.blobs, waitFor);
    const { server, logs } = this;
    const operators = new InProcessOperators({ server, tasks: operations, logs });
    this.namedTypes = new NamedTypes({
      registered: async (type) => this.server.definitionOf(type),
      warn: guarded('onWarning', options.onWarning ?? (() => undefined)),
    });
    this.operations = operations;
    this.operators = operators;
    this.tasks = new TaskGroup(operators);
    this.deadLetters = new DeadLetterGroup(operators);
    this.queues = new QueueGroup(operators);
    const { blobs } = this;
    const runs = new InProcessRuns({
      server,
      blobs,
      waitFor: (id, wait, show) => this.waits.wait(id, wait, show),
    });
    this.starts = new RunStarts(runs);
    this.runs = new RunGroup(runs);
    this.workflows = new WorkflowGroup(runs);
  }

  /** The current time of the virtual clock. */
  get now(): Date {
    return new Date(this.server.now);
  }

  /**
   * Lets time pass, and everything that becomes due happen, in order. Handlers that need no time
   * have run as far as they can before it resolves. Handlers that wait for something else keep
   * running.
   */
  async advance(ms: number): Promise<void> {
    const until = this.server.now + ms;
    await this.waits.holdTime(async () => {
      await this.settle();
      for (let next = this.waits.nextAt; next <= until; next = this.waits.nextAt) {
        this.waits.advanceTo(next);
        await this.settle();
      }
      this.waits.advanceTo(until);
      await this.settle();
    });
  }

  /** The lines that the task's handler wrote with `log`, over all attempts. */
  logOf(id: string): readonly string[] {
    return this.logs.of(id).map(({ line }) => line);
  }

  protected async send<T>(
    bodies: readonly TaskBody[],
    first: number | undefined,
    made: (submitted: readonly Submitted[]) => T,
  ): Promise<T> {
    const tasks = taskSpecs(bodies, first);
    const { bytes, ends } = joinedPayloads(
      bodies.map(({ input }) => input),
      (index) => `${pathOfTask(first, index)}/input`,
      this.blobs,
    );
    const dedupe = dedupeClaims(bodies);
    const submit = {
      type: 'submit_tasks',
      namespace: DEFAULT_NAMESPACE,
      tasks,
      inputs: bytes,
      inputEnds: ends,
      ...(dedupe === undefined ? {} : { dedupe }),
    } as const;
    return this.server.execute(submit, ({ rejection, slots, known }, { partition }) => {
      if (rejection !== undefined) {
        const status = rejection === 'dedupe_mismatch' ? 409 : 429;
        throw new SluiceError(rejection, `the tasks were refused: ${rejection}`, { status });
      }
      const submitted = slots.map((slot, index) => {
        const before = known?.get(index);
        if (before === undefined) return { id: this.server.view(slot).id, deduplicated: false };
        return { id: taskIdText({ ...before, partition }), deduplicated: true };
      });
      return made(submitted);
    });
  }

  protected async putType(taskType: string, definition: TaskDefaults): Promise<void> {
    const namespace = DEFAULT_NAMESPACE;
    const command = { type: 'put_task_type', namespace, taskType } as const;
    this.server.execute({ ...command, definition: definitionOf(definition) });
  }

  protected override submittedByName(type: string, sent: Promise<unknown>): void {
    this.namedTypes.submitted(type, sent);
  }

  private makeRuns(
    tasks: readonly AnyTask[],
    { onListenerError = writeError, onAttempt }: TestSluiceOptions,
  ): HandlerRuns {
    return new HandlerRuns(tasks, {
      reports: {
        finish: (lease, ending) => {
          this.handlers.ended(lease);
          // Rendered the same way as by a worker.
          const { error, output, outputBlob, ...report } = JSON.parse(
            finalReport(lease, ending, 0).text,
          );
          const large = outputBlob === undefined ? undefined : this.blobs.read(outputBlob);
          const payload = large === undefined ? (error ?? output) : JSON.parse(large);
          this.server.report(report, payload);
          this.waits.kick();
        },
        progress: (lease, progress) => {
          this.server.report({ lease, kind: 'progress', ...progress });
        },
        heartbeat: (lease) => this.server.report({ lease, kind: 'heartbeat' }),
        log: (lease, line) => this.keepLine(lease, line),
      },
      blobs: this.blobs,
      submits: this,
      now: () => this.server.now,
      ticks: () => this.server.now,
      onAttempt: onAttempt === undefined ? () => undefined : guarded('onAttempt', onAttempt),
      onListenerError,
    });
  }

  private runEnded(slot: Slot): void {
    const view = runView(this.server, slot, (blob) => this.blobs.read(blob));
    this.waits.ended(view.id, view);
  }

  private keepLine(lease: string, line: string): void {
    this.logs.keep(lease, line, this.server.now);
    // A line shows that the handler is alive, as on a server.
    this.server.report({ lease, kind: 'heartbeat' });
  }

  /** Gives handlers time on the event loop, until nothing happens for a while. */
  private async settle(): Promise<void> {
    let quiet = 0;
    for (let turns = 0; quiet < QUIET_TURNS && turns < TURNS_MAX; turns++) {
      const before = this.server.commands;
      await turn();
      quiet = this.server.commands === before ? quiet + 1 : 0;
      if (this.server.leases.size === 0 && quiet > 0) return;
    }
  }
}

function offered({ type, concurrency }: AnyTask): { type: string; concurrency?: number } {
  return concurrency === undefined ? { type } : { type, concurrency };
}

/** Plenty of every resource that is not unlimited by default. */
function plentyFor(tasks: readonly AnyTask[]): Omit<Resources, 'slots'> {
  const names = tasks.flatMap(({ resources }) => Object.keys(resources?.custom ?? {}));
  return { gpu: PLENTY, custom: Object.fromEntries(names.map((name) => [name, PLENTY])) };
}

function writeError(taskId: string, cause: unknown): void {
  console.error(`sluice: a listener of ${taskId} failed: ${messageOf(cause)}`);
}
