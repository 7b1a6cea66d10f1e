import type { WaitOptions } from '../task/task-handle.ts';
import { currentScope } from './handler-scopes.ts';
import { isRunId, whyNever } from './never-ending.ts';
import type { RunningHandlers } from './running-handlers.ts';
import type { InProcessServer } from './server/in-process-server.ts';

/** The real timer, even in a test that replaces timers later. */
const startTimer = setTimeout;

/** Number of turns in which nothing happens before a wait is given up. */
const QUIET_TURNS = 3;

/** Lets everything happen that needs no time. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    startTimer(resolve, 0);
  });
}

interface Wait {
  readonly id: string;
  /** The handler that waits; undefined for a wait of the test. */
  readonly lease: string | undefined;
  /** Infinite when there is no timeout. */
  readonly deadline: number;
  /** The current state of what is waited for. */
  show(): unknown;
  resolve(view: unknown): void;
  reject(cause: unknown): void;
}

export interface TestWaitsOptions {
  readonly server: InProcessServer;
  readonly handlers: RunningHandlers;
  readonly manualTime: boolean;
}

/**
 * Waits for tasks, and the time that passes for them.
 *
 * test-time.only-when-idle: While the test waits for a task, time jumps to the next due event, but
 *   only when every running handler waits for tasks or for a virtual timer. A handler that does
 *   something else, such as a request, must not see time pass meanwhile.
 */
export class TestWaits {
  private readonly server: InProcessServer;
  private readonly options: TestWaitsOptions;
  private readonly waits = new Set<Wait>();
  private isDriving = false;
  /** Another caller controls time. */
  private isHeld = false;
  /** Called when a handler ends, or starts to wait. */
  private wake: () => void = () => undefined;

  constructor(options: TestWaitsOptions) {
    this.server = options.server;
    this.options = options;
  }

  /** Nothing happens by itself before this time. */
  get nextAt(): number {
    const { timers } = this.options.handlers;
    return Math.min(this.server.nextTimerAt, this.nextDeadline, timers.nextAt);
  }

  /** Waits for a task or a run. At the timeout it returns what `show` returns. */
  wait<T>(id: string, { timeoutMs, signal }: WaitOptions, show: () => T): Promise<T> {
    const scope = currentScope();
    const lease = scope?.handlers === this.options.handlers ? scope.lease : undefined;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const deadline = this.server.now + (timeoutMs ?? Number.POSITIVE_INFINITY);
      const wait = { id, lease, deadline, show, resolve: resolve as Wait['resolve'], reject };
      this.waits.add(wait);
      signal?.addEventListener('abort', () => {
        this.waits.delete(wait);
        reject(signal.reason);
      });
      this.kick();
    });
  }

  /** A task or a run has ended. */
  ended(id: string, view: unknown): void {
    for (const wait of this.waits) {
      if (wait.id !== id) continue;
      this.waits.delete(wait);
      wait.resolve(view);
    }
    // A handler that does not listen may have lost its task, and no longer holds time up.
    this.wake();
  }

  /** Returns whether a timer of a handler fired. */
  advanceTo(time: number): boolean {
    this.server.advanceTo(time);
    for (const wait of this.waits) {
      if (wait.deadline > this.server.now) continue;
      this.waits.delete(wait);
      wait.resolve(wait.show());
    }
    return this.options.handlers.timers.fireOne();
  }

  /** While `run` runs, only `run` lets time pass. */
  async holdTime(run: () => Promise<void>): Promise<void> {
    this.isHeld = true;
    try {
      await run();
    } finally {
      this.isHeld = false;
      this.kick();
    }
  }

  /** Something changed that a wait may depend on. */
  kick(): void {
    this.wake();
    if (this.isDriving || this.isHeld || this.options.manualTime || !this.doesTestWait) return;
    this.isDriving = true;
    this.drive().then(
      () => {
        this.isDriving = false;
      },
      (cause: unknown) => {
        this.isDriving = false;
        for (const wait of this.waits) wait.reject(cause);
        this.waits.clear();
      },
    );
  }

  private async drive(): Promise<void> {
    for (let quiet = 0; this.doesTestWait && quiet < QUIET_TURNS; ) {
      await turn();
      if (this.isHeld) return;
      if (this.isBusy) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        quiet = 0;
      } else if (this.doesTestWait) {
        quiet = this.passTime() ? 0 : quiet + 1;
      }
    }
    this.giveUp();
  }

  /** A wait of a handler that has ended counts as one of the test. */
  private isOfTest = ({ lease }: Wait): boolean => {
    return lease === undefined || !this.server.leases.has(lease);
  };

  private get doesTestWait(): boolean {
    return [...this.waits].some(this.isOfTest);
  }

  /** A running handler waits for neither tasks nor timers (test-time.only-when-idle). */
  private get isBusy(): boolean {
    if (this.server.leases.size === 0) return false;
    const waiting = this.waitingLeases;
    const { timers } = this.options.handlers;
    return [...this.server.leases].some((lease) => {
      return !waiting.has(lease) && !timers.has(({ scope }) => scope.lease === lease);
    });
  }

  private get waitingLeases(): ReadonlySet<string | undefined> {
    return new Set([...this.waits].map(({ lease }) => lease));
  }

  private get nextDeadline(): number {
    return Math.min(...[...this.waits].map(({ deadline }) => deadline));
  }

  /**
   * An interval of a handler that waits for tasks, or that has ended, is no reason to let time
   * pass: it would never end.
   */
  private get hasReasonToPass(): boolean {
    if (this.server.hasTaskTimers || this.nextDeadline < Number.POSITIVE_INFINITY) return true;
    const waiting = this.waitingLeases;
    return this.options.handlers.timers.has(({ isInterval, scope: { lease } }) => {
      return !isInterval || (this.server.leases.has(lease) && !waiting.has(lease));
    });
  }

  /** Returns false when nothing will ever be due. */
  private passTime(): boolean {
    const { commands } = this.server;
    // A timer may turn out not to be due, and then has no effect.
    while (this.hasReasonToPass) {
      const waits = this.waits.size;
      const hasFired = this.advanceTo(this.nextAt);
      if (hasFired || this.server.leases.size > 0 || this.waits.size < waits) return true;
      if (this.server.commands > commands + 1000) return true;
    }
    return false;
  }

  /** Rejects the waits of the test for tasks that will never end. */
  private giveUp(): void {
    const waitedFor = (lease: string): string[] => {
      return [...this.waits].filter((wait) => wait.lease === lease).map(({ id }) => id);
    };
    for (const wait of [...this.waits].filter(this.isOfTest)) {
      const why = whyNever(this.server, waitedFor, wait.id);
      if (why === undefined) continue;
      this.waits.delete(wait);
      const what = isRunId(wait.id) ? 'run' : 'task';
      wait.reject(new Error(`${what} ${wait.id} will never end: ${why}`));
    }
  }
}
