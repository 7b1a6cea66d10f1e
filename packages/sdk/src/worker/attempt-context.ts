import { numberOf, textOf } from '../base/shown-value.ts';
import type { Resources, Usage } from '../task/api-types.ts';
import type { AnyTask } from '../task/define-task.ts';
import { TaskAborted } from '../task/failures.ts';
import type { SignalListener, TaskContext } from '../task/task-context.ts';
import type { TaskHandle } from '../task/task-handle.ts';
import type { SubmitOptions } from '../task/task-options.ts';
import type { SubmitManyOptions, TaskSubmits } from '../task/task-submits.ts';
import { ChildSubmits } from './child-submits.ts';
import { guardListeners } from './guarded-signal.ts';
import type { AbortReason } from './worker-ports.ts';

/** Reports of a handler, by lease. */
export interface AttemptReports {
  progress(lease: string, progress: { fraction?: number; message?: string }): void;
  heartbeat(lease: string): void;
  log(lease: string, line: string): void;
}

/** What a context needs from its worker. */
export interface ContextPorts {
  readonly reports: AttemptReports;
  readonly submits: TaskSubmits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A listener of the handler threw. */
  readonly onListenerError: (cause: unknown) => void;
}

/** The data of an attempt. */
export interface Attempt {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lease: string;
  /** Absent when it is a blob. */
  readonly input?: unknown;
  /** SHA-256 of the blob that holds the input. */
  readonly inputBlob?: string;
  /** What to run, for tasks of an agent. */
  readonly exec?: unknown;
  readonly resources?: Resources;
  readonly tags?: Readonly<Record<string, string>>;
  /** Attempts that the task may have; absent for the default. */
  readonly maxAttempts?: number;
}

interface Signal {
  readonly name: string;
  readonly data: unknown;
}

/** Maximum number of signals that wait for a listener; the newest are kept. */
const SIGNALS_KEPT = 100;

const NO_TAGS = Object.freeze({});
const NO_RESOURCES = Object.freeze({});

/**
 * The context of one attempt. Expensive parts are made on first use, because most handlers need few
 * of them.
 */
export class AttemptContext implements TaskContext {
  private readonly given: Attempt;
  private readonly ports: ContextPorts;
  private readonly reports: AttemptReports;
  /** Set at the first submit. */
  private childSubmits: ChildSubmits | undefined;
  private controller: AbortController | undefined;
  private listeners: Set<SignalListener> | undefined;
  /** Signals without a listener so far; empty once there is one. */
  private unheard: Signal[] = [];
  /** Set once the handler must stop. */
  aborted: TaskAborted | undefined;
  /** What the handler said that it used. */
  used: Usage | undefined;

  constructor(given: Attempt, ports: ContextPorts) {
    this.given = given;
    this.ports = ports;
    this.reports = ports.reports;
  }

  get id(): string {
    return this.given.id;
  }

  get type(): string {
    return this.given.type;
  }

  get attempt(): number {
    return this.given.attempt;
  }

  get lease(): string {
    return this.given.lease;
  }

  get tags(): Readonly<Record<string, string>> {
    return this.given.tags ?? NO_TAGS;
  }

  get idempotencyKey(): string {
    return this.given.id;
  }

  get resources(): Resources {
    return this.given.resources ?? NO_RESOURCES;
  }

  get exec(): unknown {
    return this.given.exec;
  }

  get usage(): TaskContext['usage'] {
    return (used) => {
      this.used = used;
    };
  }

  get now(): TaskContext['now'] {
    return this.ports.now;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      guardListeners(this.controller.signal, this.ports.onListenerError);
      if (this.aborted !== undefined) this.controller.abort(this.aborted);
    }
    return this.controller.signal;
  }

  get progress(): TaskContext['progress'] {
    return async (fraction, message) => {
      const part = numberOf(fraction);
      this.reports.progress(this.given.lease, {
        ...(part === undefined ? {} : { fraction: part }),
        ...(message === undefined ? {} : { message: textOf(message) }),
      });
    };
  }

  get heartbeat(): TaskContext['heartbeat'] {
    return async () => this.reports.heartbeat(this.given.lease);
  }

  get log(): TaskContext['log'] {
    return async (line) => this.reports.log(this.given.lease, textOf(line));
  }

  get onSignal(): TaskContext['onSignal'] {
    return (listener) => {
      this.listeners ??= new Set();
      // A separate function each time, so that a function that was added twice is also removed
      // twice.
      const told: SignalListener = (name, data) => listener(name, data);
      this.listeners.add(told);
      for (const signal of this.unheard.splice(0)) this.tell(told, signal);
      return () => this.listeners?.delete(told);
    };
  }

  get submit(): TaskContext['submit'] {
    return (task: string | AnyTask, input?: unknown, options?: SubmitOptions) =>
      contained(this.children.submit(task, input, options)) as Promise<TaskHandle<never>>;
  }

  get submitMany(): TaskContext['submitMany'] {
    return (
      task: string | AnyTask,
      inputs: readonly unknown[],
      options?: SubmitManyOptions<never>,
    ) => contained(this.children.submitMany(task, inputs, options)) as Promise<TaskHandle<never>[]>;
  }

  private get children(): ChildSubmits {
    this.childSubmits ??= new ChildSubmits(this.given.id, this.ports.submits, () => this.signal);
    return this.childSubmits;
  }

  abort(reason: AbortReason): void {
    this.aborted = abortedBy(reason);
    this.controller?.abort(this.aborted);
  }

  hear(signal: Signal): void {
    if (this.listeners === undefined) {
      this.unheard.push(signal);
      if (this.unheard.length > SIGNALS_KEPT) this.unheard.shift();
      return;
    }
    for (const listener of this.listeners) this.tell(listener, signal);
  }

  /** An error of a listener must not reach the stream that delivers all tasks. */
  private tell(listener: SignalListener, { name, data }: Signal): void {
    new Promise((resolve) => resolve(listener(name, data))).catch(this.ports.onListenerError);
  }
}

function abortedBy(reason: AbortReason): TaskAborted {
  switch (reason.type) {
    case 'cancelled':
    case 'timed_out':
      return new TaskAborted(reason.type, `asked to stop: ${reason.reason}`, reason.graceMs);
    case 'lease_lost':
      return new TaskAborted(reason.type, 'another worker may have the task now', 0);
    case 'stopping':
      return new TaskAborted(reason.type, 'the worker stops', 0);
  }
}

/**
 * A promise whose error does not end the process if the handler does not await it. A handler that
 * awaits it hears the error as always.
 */
function contained<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
