/** A task of the benchmark; about 200 bytes of JSON. */
export interface BenchTask {
  readonly n: number;
  /** When it was due, by the clock that all processes share. */
  readonly at: number;
  readonly isUrgent?: boolean;
  readonly text: string;
}

export interface SubmitOptions {
  /** Due so long after the submit. */
  readonly delayMs?: number;
  /** Before all that are not. */
  readonly isUrgent?: boolean;
}

/** What a contender does in the process of the client. */
export interface PeerClient {
  /** How many tasks one call takes, as the contender's documentation has it. */
  readonly bulkSize: number;
  /** One call; resolves when the contender has promised all of them. */
  submitBulk(tasks: readonly BenchTask[], options?: SubmitOptions): Promise<void>;
  /** One call for one task. */
  submitOne(task: BenchTask, options?: SubmitOptions): Promise<void>;
  /** As `submitBulk`, and makes the tasks known to `edit`, by their numbers. */
  submitEditable(tasks: readonly BenchTask[], delayMs: number): Promise<void>;
  /** Says anew when the tasks are due, one delay each, in as few calls as it can. */
  edit(tasks: readonly BenchTask[], delaysMs: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export interface WorkOptions {
  /** Tasks at once; what it means in the contender's terms is in its `settings`. */
  readonly slots: number;
  /** How many workers: each as a process of its own would have it. */
  readonly workers: number;
  readonly handle: (task: BenchTask) => Promise<void> | undefined;
}

/** What a contender does in the process of the worker. */
export interface PeerWorker {
  close(): Promise<void>;
}

export type StoreName = 'redis' | 'redis-always' | 'postgres' | 'sluice';

export interface Contender {
  readonly store: StoreName;
  /** It differs from another one in its submits only. */
  readonly isVariant?: boolean;
  /** What a submit that was answered survives. */
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
