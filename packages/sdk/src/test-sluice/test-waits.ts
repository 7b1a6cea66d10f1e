import type { WaitOptions } from '../task/task-handle.ts';
import type { TaskView } from '../task/task-view.ts';
import type { InProcessServer } from './in-process-server.ts';

/** The real timer, even in a test that replaces timers later. */
const startTimer = setTimeout;

/** Lets everything happen that needs no time. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    startTimer(resolve, 0);
  });
}

interface Wait {
  readonly id: string;
  /** Infinite when there is no timeout. */
  readonly deadline: number;
  resolve(task: TaskView): void;
  reject(cause: unknown): void;
}

export interface TestWaitsOptions {
  readonly manualTime: boolean;
  /** Why the task will never end by itself; undefined while an outside call may still end it. */
  readonly whyNever: (id: string) => string | undefined;
}

/** Waits for tasks, and the time that passes for them. */
export class TestWaits {
  private readonly server: InProcessServer;
  private readonly options: TestWaitsOptions;
  private readonly waits = new Set<Wait>();
  private isDriving = false;
  /** Another caller controls time. */
  private isHeld = false;
  /** Called when a handler ends. */
  private wake: () => void = () => undefined;

  constructor(server: InProcessServer, options: TestWaitsOptions) {
    this.server = server;
    this.options = options;
  }

  /** Nothing happens by itself before this time. */
  get nextAt(): number {
    const deadlines = [...this.waits].map(({ deadline }) => deadline);
    return Math.min(this.server.nextTimerAt, ...deadlines);
  }

  wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<TaskView> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const deadline = this.server.now + (timeoutMs ?? Number.POSITIVE_INFINITY);
      const wait = { id, deadline, resolve, reject };
      this.waits.add(wait);
      signal?.addEventListener('abort', () => {
        this.waits.delete(wait);
        reject(signal.reason);
      });
      this.kick();
    });
  }

  ended(task: TaskView): void {
    for (const wait of this.waits) {
      if (wait.id !== task.id) continue;
      this.waits.delete(wait);
      wait.resolve(task);
    }
  }

  advanceTo(time: number): void {
    this.server.advanceTo(time);
    for (const wait of this.waits) {
      if (wait.deadline > this.server.now) continue;
      this.waits.delete(wait);
      const slot = this.server.find(wait.id);
      if (slot !== undefined) wait.resolve(this.server.view(slot));
    }
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
    if (this.isDriving || this.isHeld || this.options.manualTime || this.waits.size === 0) return;
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
    while (this.waits.size > 0) {
      await turn();
      if (this.isHeld) return;
      if (this.server.running > 0) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      } else if (this.waits.size > 0 && !this.passTime()) {
        return;
      }
    }
  }

  /** Returns false when nothing will ever be due. */
  private passTime(): boolean {
    const { commands } = this.server;
    // A timer may turn out not to be due, and then has no effect.
    for (let next = this.nextAt; next < Number.POSITIVE_INFINITY; next = this.nextAt) {
      const waits = this.waits.size;
      this.advanceTo(next);
      if (this.server.running > 0 || this.waits.size < waits) return true;
      if (this.server.commands > commands + 1000) return true;
    }
    return this.giveUp();
  }

  /** Rejects the waits for tasks that will never end. */
  private giveUp(): boolean {
    for (const wait of this.waits) {
      const why = this.options.whyNever(wait.id);
      if (why === undefined) continue;
      this.waits.delete(wait);
      wait.reject(new Error(`task ${wait.id} will never end: ${why}`));
    }
    return false;
  }
}
