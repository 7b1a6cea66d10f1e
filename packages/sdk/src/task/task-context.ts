import type { Resources, Usage } from './api-types.ts';
import type { TaskSubmits } from './task-submits.ts';

/** Receives the signals that `TaskHandle.signal` sends. */
export type SignalListener = (name: string, data: unknown) => unknown;

/** What a handler gets besides its input. Its members may be destructured. */
export interface TaskContext {
  /** Id of the task. */
  readonly id: string;
  readonly type: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * The right to run this attempt: different for every attempt of every task. A worker that lost
   * the task has an older one.
   */
  readonly lease: string;
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The same for every attempt of the task: for systems that recognize a repeated call by a key.
   */
  readonly idempotencyKey: string;
  /**
   * Milliseconds since 1970: `Date.now()`, and in a `TestSluice` the virtual clock. A handler that
   * takes times from here can be tested without waiting.
   */
  readonly now: () => number;
  /** What the task was promised of its worker. */
  readonly resources: Resources;
  /** What to run, for a worker that takes tasks with `exec`, as the agent does. */
  readonly exec?: unknown;
  /** Says what the attempt used; the newest call counts. Answers show it beside the attempt. */
  readonly usage: (used: Usage) => void;
  /** Aborted on cancel, timeout, a lost lease and a stop; its reason is a `TaskAborted`. */
  readonly signal: AbortSignal;
  /** Reports progress from 0 to 1. The newest report counts. */
  readonly progress: (fraction: number, message?: string) => Promise<void>;
  /** Stores a log line with the attempt. */
  readonly log: (line: string) => Promise<void>;
  /** Reports that the handler is alive, for tasks with a heartbeat timeout. */
  readonly heartbeat: () => Promise<void>;
  /**
   * Calls `listener` with every signal from now on, and with earlier signals that had no listener.
   * Returns a function that removes the listener.
   */
  readonly onSignal: (listener: SignalListener) => () => void;
  /**
   * Submits a child of this task: its `parentId` is the id of this task. Without a `dedupeKey`, the
   * child gets one from the id of this task and the number of the call in this attempt. So a later
   * attempt that makes the same calls in the same order finds its children.
   */
  readonly submit: TaskSubmits['submit'];
  /** Submits one child per input, as `submit` does. The key also has the place of the input. */
  readonly submitMany: TaskSubmits['submitMany'];
}
