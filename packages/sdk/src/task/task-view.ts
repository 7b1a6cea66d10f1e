export type TaskState =
  | 'waiting'
  | 'blocked'
  | 'queued'
  | 'leased'
  | 'running'
  | 'paused'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'expired'
  | 'cancelled';

/** The error of a failed attempt. */
export interface TaskError {
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export interface AttemptView {
  readonly attempt: number;
  /** Name of the worker. */
  readonly worker: string;
  readonly leasedAt: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly outcome: string | null;
  /** Output of an attempt that succeeded after its task was cancelled. */
  readonly output?: unknown;
  /** Error of an attempt that failed. */
  readonly error?: TaskError;
}

/** A task as the server shows it. Times are ISO 8601. A later server may show more fields. */
export interface TaskView<Output = unknown> {
  readonly id: string;
  readonly type: string;
  readonly state: TaskState;
  /** Why it is in this state. */
  readonly reason: string;
  readonly priority: number;
  /** Attempts so far; 0 before the first. */
  readonly attempt: number;
  readonly attempts: readonly AttemptView[];
  readonly submittedAt: string | null;
  /** When a waiting task will be queued. */
  readonly runAt: string | null;
  readonly endedAt: string | null;
  /** When a cancel was requested while a worker held it. */
  readonly cancelRequestedAt: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly parentId: string | null;
  /** Absent when the input is a blob. */
  readonly input?: unknown;
  /** SHA-256 of an input that is too big to be shown. */
  readonly inputBlob?: string;
  /** Null until the task succeeded. */
  readonly output: Output | null;
  /** SHA-256 of an output that is a blob. */
  readonly outputBlob?: string;
  /** Error of the last attempt, if it failed. */
  readonly error: TaskError | null;
  /** The last progress that its handler reported. */
  readonly progress?: { readonly fraction?: number; readonly message?: string } | null;
}

const ENDED: readonly TaskState[] = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];

/** Whether the task has ended: its state no longer changes by itself. */
export function hasEnded({ state }: Pick<TaskView, 'state'>): boolean {
  return ENDED.includes(state);
}
