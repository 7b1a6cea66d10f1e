/** A task of the benchmark; about 200 bytes of JSON. */
export interface BenchTask {
  readonly n: number;
  /** When it was due, by the clock that all processes share. */
  readonly at: number;
  readonly isUrgent?: boolean;
  readonly text: string;
}

export interface SubmitOptions {
  /** Time from the submit until the task is due. */
  readonly delayMs?: number;
  /** Goes before all tasks that are not urgent. */
  readonly isUrgent?: boolean;
}

/** What a contender does in the client process. */
export interface PeerClient {
  /** Number of tasks per call, according to the contender's documentation. */
  readonly bulkSize: number;
  /** One call; resolves when the contender has acknowledged all of them. */
  submitBulk(tasks: readonly BenchTask[], options?: SubmitOptions): Promise<void>;
  /** One call for one task. */
  submitOne(task: BenchTask, options?: SubmitOptions): Promise<void>;
  /** Like `submitBulk`, and `edit` can then find the tasks by their numbers. */
  submitEditable(tasks: readonly BenchTask[], delayMs: number): Promise<void>;
  /** Changes when the tasks are due, one delay each, in as few calls as possible. */
  edit(tasks: readonly BenchTask[], delaysMs: readonly number[]): Promise<void>;
  /** Absent when schedules cannot be made while workers run. */
  readonly schedules?: PeerSchedules;
  close(): Promise<void>;
}

interface PeerSchedules {
  /** Number of schedules per call, and calls at once. */
  readonly perCall: number;
  readonly atOnce: number;
  /** Creates or replaces a schedule for each task, named by its number. */
  put(tasks: readonly BenchTask[], cron: string): Promise<void>;
}

export interface WorkOptions {
  /** Number of tasks at once. `settings` says what this means in the contender's terms. */
  readonly slots: number;
  /** Number of workers, each set up as if it were a separate process. */
  readonly workers: number;
  /** Tasks of every minute, for a contender that learns its schedules only at the start. */
  readonly crontab?: readonly BenchTask[];
  readonly handle: (task: BenchTask) => Promise<void> | undefined;
}

/** What a contender does in the worker process. */
export interface PeerWorker {
  close(): Promise<void>;
}

export type StoreName = 'redis' | 'redis-always' | 'postgres' | 'sluice';

export interface Contender {
  readonly store: StoreName;
  /** It differs from another contender only in its submits. */
  readonly isVariant?: boolean;
  /** What an acknowledged submit survives. */
  readonly durability: string;
  /** Slots, batches and connections, for the table. */
  readonly settings: string;
  readonly openClient: (address: string, queue: string) => Promise<PeerClient>;
  /** Resolves when it is ready to take tasks. */
  readonly openWorker: (
    address: string,
    queue: string,
    options: WorkOptions,
  ) => Promise<PeerWorker>;
}
