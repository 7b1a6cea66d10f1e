// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
import type { Resources, TaskState, TaskView } from '../task/api-types.ts';

export interface TaskFilter {
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type?: string;
  readonly state?: TaskState;
  /** Tags that the task has. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Only children of this task. */
  readonly parentId?: string;
  /** ISO 8601, or milliseconds since 1970. */
  readonly since?: string | number;
  /** ISO 8601, or milliseconds since 1970. */
  readonly until?: string | number;
}

export interface PageOfAnything {
  readonly items: readonly unknown[];
  /**
   * Cursor of the next page; null on the last page. A page may have fewer items than requested
   * without being the last.
   */
  readonly nextCursor: string | null;
  readonly asOf: string;
  /** How far the list is behind, in milliseconds. */
  readonly lagMs: number;
}

export type TaskOutcome =
  | {
      readonly id: string;
      readonly ok: true;
      readonly state: TaskState;
    }
  | {
      readonly id: string;
      readonly error: {
        readonly code: string;
        readonly message: string;
      };
    };

export interface CancelCounts {
  /** Open tasks that match. */
  readonly matched: number;
  /** Matching tasks that were cancelled immediately. */
  readonly cancelled: number;
  /** Matching tasks whose worker was told to stop. */
  readonly requested: number;
  readonly dryRun: boolean;
}

export interface RetryCounts {
  /** Tasks that match and ended without success. */
  readonly matched: number;
  /** Matching tasks that run again. */
  readonly retried: number;
  readonly dryRun: boolean;
}

export interface TasksFound {
  readonly items: readonly TaskView[];
  /** Ids of no known task. */
  readonly unknown: readonly string[];
  /** Ids that were left out because the answer would be too large: request them again. */
  readonly notIncluded: readonly string[];
}

export interface HistoryEntry {
  readonly at: string;
  readonly from: TaskState | null;
  readonly to: TaskState;
  readonly reason: string;
  readonly attempt: number;
  /** Name of the worker that held or got the task. */
  readonly worker: string | null;
  /**
   * The input that this retry replaced. Absent if the input did not change or is a blob, and in
   * older entries of a task with very many replaced inputs.
   */
  readonly inputBefore?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlobBefore?: string;
}

export interface Explanation {
  readonly running: boolean;
  readonly reasons: readonly {
    readonly code:
      | 'not_due'
      | 'paused'
      | 'queue_paused'
      | 'no_worker_for_type'
      | 'worker_full'
      | 'exceeds_worker'
      | 'constraint_unmet'
      | 'draining'
      | 'reserved'
      | 'behind_in_queue'
      | 'finished';
    readonly message: string;
    /** Name of the worker that the reason is about. */
    readonly worker?: string;
  }[];
  readonly workersNotShown: number;
}

export interface LogLine {
  readonly attempt: number;
  readonly at: string;
  readonly line: string;
}

export interface TaskChange {
  /** Id of the task. */
  readonly task: string;
  /** Type of the task. */
  readonly type: string;
  /** Id of the run that the task is a step of. Absent for others. */
  readonly run?: string;
  /** Null for a new task. */
  readonly from: TaskState | null;
  readonly to: TaskState;
  /** Why the task changed. */
  readonly reason: string;
  /** Attempts so far; 0 before the first. */
  readonly attempt: number;
  readonly at: string;
}

/** Changes in these records of the log are no longer available. */
export interface EventGap {
  /** The first missing record of the log. */
  readonly from: number;
  /** The first record that is available again. */
  readonly to: number;
}

export interface QueueView {
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type: string;
  readonly paused: boolean;
  /** Tasks that are ready and wait for a worker. */
  readonly depth: number;
  /** The depth of each priority, from 0 to 8. */
  readonly depthByPriority: readonly number[];
  /** How long the oldest ready task has waited; null if there is none. */
  readonly oldestAgeMs: number | null;
  /** Tasks that workers hold. */
  readonly leased: number;
  readonly deadLetters: number;
  /** Submitted tasks per second, over the last ten seconds. */
  readonly inPerSec: number;
  /** Ended tasks per second, over the last ten seconds. */
  readonly outPerSec: number;
  /** Connected workers that run the type. */
  readonly workers: number;
}

export interface WorkerView {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly types: readonly {
    /**
     * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
     * have the type command or container; no other task can have those.
     */
    readonly type: string;
    readonly concurrency?: number;
    /** Why the worker takes none of this type for now. */
    readonly unavailable?: string;
    /** Tasks of this type that the worker holds. */
    readonly leased: number;
  }[];
  /** Labels for the constraints of tasks. */
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Everything that the worker offers; it replaces the earlier capacity. If absent, cpu, memoryMb
   * and diskMb are unlimited, and there is no gpu and nothing custom.
   */
  readonly capacity: {
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
    /** Total slots of the worker. With 0 it gets no new tasks. Default 100. */
    readonly slots?: number;
  };
  /** What is reserved for the tasks that the worker holds. */
  readonly used: Resources;
  /** What the worker measured last; absent if it has measured nothing. */
  readonly measured?: {
    /** Cores in use, on average over the last seconds. */
    readonly cpu?: number;
    /** Memory in use, in MB. */
    readonly memoryMb?: number;
    /** Slots of the tasks whose handlers run. */
    readonly slots?: number;
    readonly at: string;
  };
  readonly leaseMs: number;
  /** False while its connection is broken. */
  readonly connected: boolean;
  readonly draining: boolean;
  readonly heardAt: string;
}

/** Without a type: all types. */
export interface DeadLetterFilter {
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type?: string;
  /** Fingerprint of an error, from `GET /v1/dead-letters/groups`. */
  readonly fingerprint?: string;
}

export interface ErrorGroup {
  /** The same for errors that differ only in numbers, ids and quoted words. */
  readonly fingerprint: string;
  /**
   * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
   * have the type command or container; no other task can have those.
   */
  readonly type: string;
  readonly count: number;
  /** Error message of the task that ended last. */
  readonly message: string;
  /** The task that ended last. */
  readonly taskId: string;
  readonly firstEndedAt: string;
  readonly lastEndedAt: string;
  /** Tasks that ended in each of the last 24 hours, the current hour last. */
  readonly endedByHour: readonly number[];
}

export interface ErrorGroups {
  /** Largest group first. */
  readonly items: readonly ErrorGroup[];
  /** Dead letters that are in none of these groups. */
  readonly others: number;
  /** False if there are too many: then the oldest were not counted. */
  readonly isComplete: boolean;
}

export interface RedriveRequest {
  /** Without a type: all types. */
  readonly filter?: DeadLetterFilter;
  /**
   * Tasks per second, by default 100. With a fingerprint there is no default: without a rate all
   * run again immediately, and with one they leave the dead letters and each waits for its `runAt`,
   * which counts towards `timeouts.totalMs`.
   */
  readonly ratePerSec?: number;
  /** Only counts, and changes nothing. Default false. */
  readonly dryRun?: boolean;
}

export interface RedriveReply {
  /** Null if no redrive is running: all run again or wait for their times, or it was a dry run. */
  readonly id: string | null;
  /** Dead letters that will run again. */
  readonly count: number;
  readonly dryRun: boolean;
}

export interface RedriveView {
  readonly id: string;
  readonly type: string | null;
  readonly ratePerSec: number;
  readonly startedAt: string;
  /** Dead letters that it has run again so far. */
  readonly done: number;
}

export interface DiscardReply {
  /** Dead letters that match. */
  readonly matched: number;
  readonly discarded: number;
  readonly dryRun: boolean;
}

export interface StatsPoint {
  /** The start of the interval. */
  readonly at: string;
  readonly in: number;
  readonly out: number;
  /** Ended tasks that failed, timed out or expired. */
  readonly failed: number;
  /** Highest number at once. */
  readonly running: number;
  /** Highest number of queued tasks, by priority. */
  readonly depth: readonly number[];
  /** From submit to end, as the upper bound of a bucket; null if no task ended. */
  readonly latencyMs: {
    readonly p50: number | null;
    readonly p99: number | null;
  };
}

export interface StatsView {
  readonly window: string;
  /** The length of an interval. */
  readonly stepMs: number;
  /** Oldest first; intervals in which the server was down are missing. */
  readonly items: readonly StatsPoint[];
}

/** What the holder of the key may do. */
export type KeyRole = 'viewer' | 'submitter' | 'worker' | 'operator' | 'admin';

export interface KeyRequest {
  /** What the holder of the key may do. */
  readonly role?: KeyRole;
  /** What the holder of the key may do: all that one of the roles allows. */
  readonly roles?: readonly KeyRole[];
  /** Namespace of the key. Its holder cannot see tasks, queues and workers of others. */
  readonly namespace?: string;
  /** Name of the key, such as its owner. */
  readonly name?: string;
  /**
   * Id of an old key. The new key gets its roles, namespace and name, so do not send these. The old
   * key expires after `overlapMs`.
   */
  readonly replaces?: string;
  /** How long the old key still works. Default 86400000. */
  readonly overlapMs?: number;
  /** Time until the key expires. Default: never. */
  readonly expiresInMs?: number;
}

export interface KeyView {
  readonly id: string;
  readonly namespace: string;
  /** What the holder of the key may do: all that one of the roles allows. */
  readonly roles: readonly KeyRole[];
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** It no longer works, and can be revoked. */
  readonly expired: boolean;
  /** Last use since the server started; null if there was none. */
  readonly lastUsedAt: string | null;
}

export interface NewKeyView {
  /** The key itself. It is shown only once: the server stores only a hash. */
  readonly key: string;
  readonly id: string;
  readonly namespace: string;
  /** What the holder of the key may do: all that one of the roles allows. */
  readonly roles: readonly KeyRole[];
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** It no longer works, and can be revoked. */
  readonly expired: boolean;
  /** Last use since the server started; null if there was none. */
  readonly lastUsedAt: string | null;
}
