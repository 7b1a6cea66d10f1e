/** Resources that a task needs, or that a worker has. */
export interface Resources {
  /** Cores, with up to three decimals. */
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly gpu?: number;
  readonly slots?: number;
  /** Custom resources, by name. */
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
  /** Explicit delays instead of all of the above; there is one attempt more than delays. */
  readonly delaysMs?: number[];
}

/** A timeout that is absent does not apply. */
export interface TimeoutOptions {
  /** How long the task may wait in its queue. */
  readonly queueMs?: number;
  /** How long an attempt may run. */
  readonly runMs?: number;
  /** How long a handler may be silent: without progress, heartbeat or log line. */
  readonly heartbeatMs?: number;
  /** How long the task may take in total. */
  readonly totalMs?: number;
}

/** Options of a definition for all its tasks. A submit may override each field. */
export interface TaskDefaults {
  /** 0 to 8; 8 runs first. Default 4. */
  readonly priority?: number;
  readonly resources?: Resources;
  /** Conditions on the labels of a worker: `zone == eu`, `exists ssd`, … */
  readonly constraints?: string[];
  readonly retry?: RetryOptions;
  readonly timeouts?: TimeoutOptions;
  readonly tags?: Record<string, string>;
  readonly callback?: CallbackOptions;
}

/** Where the server sends callbacks. */
export interface CallbackOptions {
  readonly url: string;
  readonly on: ('running' | 'succeeded' | 'failed' | 'timed_out' | 'expired' | 'cancelled')[];
  readonly secret?: string;
}

export interface SubmitOptions extends TaskDefaults {
  /** Earliest start: a date, ISO 8601, or milliseconds since 1970. */
  readonly runAt?: Date | string | number;
  /** Earliest start, as a delay from now. */
  readonly delayMs?: number;
  /** A second submit of this type with this key and the same body returns the same task. */
  readonly dedupeKey?: string;
  /** How long the key is remembered. Default 24 h. */
  readonly dedupeWindowMs?: number;
  /** Id of the task that this one belongs to. */
  readonly parentId?: string;
}

/** Changes to a task that no worker holds. Absent fields stay; null clears a field. */
export interface TaskChanges {
  /** 0 to 8; 8 runs first. The task joins the tail of that level. */
  readonly priority?: number | null;
  /** Earliest start: a date, ISO 8601, or milliseconds since 1970. Null: at once. */
  readonly runAt?: Date | string | number | null;
  /**
   * An object is merged with the current input, and null removes fields. Any other value replaces
   * the input.
   */
  readonly input?: unknown;
  readonly timeouts?: { readonly [Name in keyof TimeoutOptions]: number | null } | null;
  /** Tags to add or replace; null removes a tag. */
  readonly tags?: Readonly<Record<string, string | null>> | null;
}
