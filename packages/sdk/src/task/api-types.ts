// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
import type { CommandExec, ContainerExec } from './exec-types.ts';

export interface Resources {
  /** Cores, with up to three decimals. */
  readonly cpu?: number;
  /** Memory in MB. */
  readonly memoryMb?: number;
  /** Disk space in MB. */
  readonly diskMb?: number;
  /** Whole GPUs. */
  readonly gpu?: number;
  /** Your own kinds of resources, by name, with up to three decimals. */
  readonly custom?: Readonly<Record<string, number>>;
  /** One by default, even if other resources are given. Default 1. */
  readonly slots?: number;
}

export interface RetryOptions {
  /** Default 3. */
  readonly maxAttempts?: number;
  /** Default "exponential". */
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  /** Delay before the second attempt. Default 1000. */
  readonly delayMs?: number;
  /** No delay is longer. Default 60000. */
  readonly maxDelayMs?: number;
  /** Adds up to a quarter to each delay. Default true. */
  readonly jitter?: boolean;
  /** A list of delays instead of the rule; the task has one attempt more than delays. */
  readonly delaysMs?: readonly number[];
}

/**
 * Maximum time in the queue, from the lease to the end, between heartbeats, and in total. Absent
 * means no limit.
 */
export interface TimeoutOptions {
  /** Time in the queue. */
  readonly queueMs?: number;
  /** Time of one attempt, from its lease. */
  readonly runMs?: number;
  /** Time between two signs of life of a handler. */
  readonly heartbeatMs?: number;
  /** Time from the submit to the end. */
  readonly totalMs?: number;
}

/** URL to call, for which changes. The secret is never shown. */
export interface CallbackOptions {
  readonly url: string;
  readonly on: readonly (
    | 'running'
    | 'succeeded'
    | 'failed'
    | 'timed_out'
    | 'expired'
    | 'cancelled'
  )[];
  readonly secret?: string;
}

/** Defaults for tasks of the type. */
export interface TaskDefaults {
  /** 8 runs first. Default 4. */
  readonly priority?: number;
  readonly resources?: Resources;
  /**
   * Conditions that the labels of a worker must all meet: label == value, label != value, label in
   * (a, b), label not in (a, b), exists label. A worker without the label meets != and not in.
   */
  readonly constraints?: readonly string[];
  /**
   * Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after the
   * other, so that room for large tasks is left. Default: the setting of the server.
   */
  readonly placement?: 'spread' | 'pack';
  readonly retry?: RetryOptions;
  /**
   * Maximum time in the queue, from the lease to the end, between heartbeats, and in total. Absent
   * means no limit.
   */
  readonly timeouts?: TimeoutOptions;
  readonly tags?: Readonly<Record<string, string>>;
  /** URL to call, for which changes. The secret is never shown. */
  readonly callback?: CallbackOptions;
}

/** What an attempt used, as far as its worker could measure it. */
export interface Usage {
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly memoryPeakBytes?: number;
  readonly readBytes?: number;
  readonly writtenBytes?: number;
}

export interface TaskRequest {
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type: string;
  /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  /** What an agent runs: a program with `command`, or a container with `image`. */
  readonly exec?: CommandExec | ContainerExec;
  /** 8 runs first. Default 4. */
  readonly priority?: number;
  readonly resources?: Resources;
  /**
   * Conditions that the labels of a worker must all meet: label == value, label != value, label in
   * (a, b), label not in (a, b), exists label. A worker without the label meets != and not in.
   */
  readonly constraints?: readonly string[];
  /**
   * Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after the
   * other, so that room for large tasks is left. Default: the setting of the server.
   */
  readonly placement?: 'spread' | 'pack';
  readonly retry?: RetryOptions;
  /**
   * Maximum time in the queue, from the lease to the end, between heartbeats, and in total. Absent
   * means no limit.
   */
  readonly timeouts?: TimeoutOptions;
  readonly tags?: Readonly<Record<string, string>>;
  /** URL to call, for which changes. The secret is never shown. */
  readonly callback?: CallbackOptions;
  /** ISO 8601, or milliseconds since 1970. */
  readonly runAt?: string | number;
  readonly delayMs?: number;
  /** Id of the parent task. */
  readonly parentId?: string;
  /**
   * A second submit of this type with this key and the same input returns the same task, whatever
   * its other fields.
   */
  readonly dedupeKey?: string;
  /** How long the key is stored, from the first submit. Default 86400000. */
  readonly dedupeWindowMs?: number;
  /**
   * When the key stands for a task with another input: refuse answers 409, existing returns that
   * task, replace gives it the new input, runAt, priority and tags. A task that a worker holds or
   * that has ended is not replaced. Default "refuse".
   */
  readonly onDuplicate?: 'refuse' | 'existing' | 'replace';
}

export interface TaskPatch {
  readonly priority?: number | null;
  readonly runAt?: string | number | null;
  /**
   * An object is merged into the old input, and null removes a field. Anything else replaces the
   * old input.
   */
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  readonly timeouts?: {
    readonly queueMs?: number | null;
    readonly runMs?: number | null;
    readonly heartbeatMs?: number | null;
    readonly totalMs?: number | null;
  } | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
}

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

export interface TaskError {
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export interface AttemptView {
  readonly attempt: number;
  readonly worker: string;
  readonly leasedAt: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** What the worker reported, or why the attempt ended without a report. */
  readonly outcome: string | null;
  readonly error?: TaskError;
  /** Output of an attempt that succeeded although its task was cancelled. */
  readonly output?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly outputBlob?: string;
  /** What an attempt used, as far as its worker could measure it. */
  readonly usage?: Usage;
}

export interface TaskView {
  readonly id: string;
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type: string;
  readonly state: TaskState;
  /** Why the task is in this state. */
  readonly reason: string;
  readonly priority: number;
  readonly resources: Resources;
  /**
   * Conditions that the labels of a worker must all meet: label == value, label != value, label in
   * (a, b), label not in (a, b), exists label. A worker without the label meets != and not in.
   */
  readonly constraints: readonly string[];
  /**
   * Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after the
   * other, so that room for large tasks is left. Default: the setting of the server.
   */
  readonly placement?: 'spread' | 'pack';
  /** The policy in force. */
  readonly retry: RetryOptions;
  /**
   * Maximum time in the queue, from the lease to the end, between heartbeats, and in total. Absent
   * means no limit.
   */
  readonly timeouts: TimeoutOptions;
  readonly tags: Readonly<Record<string, string>>;
  /** Where to call back, without the secret; or null. */
  readonly callback: CallbackOptions | null;
  /** Attempts so far; 0 before the first. */
  readonly attempt: number;
  /**
   * Oldest first. `GET /v1/tasks/{id}` has all of them, of very many the newest; other answers have
   * at least the newest one. Numbers start at 1 again after a retry.
   */
  readonly attempts: readonly AttemptView[];
  readonly submittedAt: string | null;
  /** When a waiting task will be queued. */
  readonly runAt: string | null;
  readonly parentId: string | null;
  /** The run that it is a step of. Absent for other tasks. */
  readonly runId?: string;
  /** Reference of that step. */
  readonly step?: string;
  /** When it was cancelled while a worker held it. */
  readonly cancelRequestedAt: string | null;
  readonly endedAt: string | null;
  /** Last progress that the worker reported. */
  readonly progress: {
    readonly fraction: number;
    readonly message: string;
  } | null;
  /** Absent if it is a blob. */
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  /** What an agent runs, without secrets. Absent for other tasks. */
  readonly exec?: unknown;
  /** Absent if it is a blob. */
  readonly output?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly outputBlob?: string;
  readonly error: TaskError | null;
}
