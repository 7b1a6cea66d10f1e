/** What a task needs of a worker, or what a worker has. */
export interface Resources {
  /** Cores, with up to three decimals. */
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly gpu?: number;
  readonly slots?: number;
  /** Kinds of your own, by name. */
  readonly custom?: Record<string, number>;
}

/** How often a task is tried, and how long it waits in between. */
export interface RetryOptions {
  /** Default 3. */
  readonly maxAttempts?: number;
  /** Default `exponential`. */
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  /** Default 1 s. */
  readonly delayMs?: number;
  /** Default 60 s. */
  readonly maxDelayMs?: number;
  /** Adds up to a quarter to each delay. Default true. */
  readonly jitter?: boolean;
  /** A ladder in place of all of the above: one attempt more than it has rungs. */
  readonly delaysMs?: number[];
}

/** What is absent is not limited. */
export interface TimeoutOptions {
  /** How long it may stand in its queue. */
  readonly queueMs?: number;
  /** How long an attempt may run. */
  readonly runMs?: number;
  /** How long a handler may be silent: neither progress nor a heartbeat nor a line of log. */
  readonly heartbeatMs?: number;
  /** How long it may take altogether. */
  readonly totalMs?: number;
}

/** What a definition says of all its tasks. A submit may say otherwise, field by field. */
export interface TaskDefaults {
  /** 0 to 8, 8 first. Default 4. */
  readonly priority?: number;
  readonly resources?: Resources;
  /** What the labels of a worker must meet: `zone == eu`, `exists ssd`, … */
  readonly constraints?: string[];
  readonly retry?: RetryOptions;
  readonly timeouts?: TimeoutOptions;
  readonly tags?: Record<string, string>;
  readonly callback?: CallbackOptions;
}

/** Where the server calls back. */
export interface CallbackOptions {
  readonly url: string;
  readonly on: ('running' | 'succeeded' | 'failed' | 'timed_out' | 'expired' | 'cancelled')[];
  readonly secret?: string;
}

export interface SubmitOptions extends TaskDefaults {
  /** Not before this time: a date, ISO 8601, or milliseconds since 1970. */
  readonly runAt?: Date | string | number;
  /** Not before so long from now. */
  readonly delayMs?: number;
  /** A second submit of this type with this key and the same body is the same task. */
  readonly dedupeKey?: string;
  /** How long the key is remembered. Default 24 h. */
  readonly dedupeWindowMs?: number;
  /** Id of the task that this one belongs to. */
  readonly parentId?: string;
}

/** What is to change of a task that nobody holds. What is absent stays, null clears. */
export interface TaskChanges {
  /** 0 to 8, 8 first. The task joins the tail of that level. */
  readonly priority?: number | null;
  /** Not before this time: a date, ISO 8601, or milliseconds since 1970. Null: at once. */
  readonly runAt?: Date | string | number | null;
  /**
   * An object is merged with the input that the task has, and null takes fields away; anything else
   * takes its place.
   */
  readonly input?: unknown;
  readonly timeouts?: { readonly [Name in keyof TimeoutOptions]: number | null } | null;
  /** Tags that are added or replaced; null takes one away. */
  readonly tags?: Readonly<Record<string, string | null>> | null;
}
