/** Hears what `TaskHandle.signal` says. */
export type SignalListener = (name: string, data: unknown) => unknown;

/** What a handler knows and can do beside its input. All of it may be taken apart by name. */
export interface TaskContext {
  /** Of the task. */
  readonly id: string;
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** The same at every attempt of the task: for systems that recognise a call by such a key. */
  readonly idempotencyKey: string;
  /** Fires on cancel, time-out, a lost lease and a stop; its reason is a `TaskAborted`. */
  readonly signal: AbortSignal;
  /** How far it is, from 0 to 1. The newest word counts. */
  readonly progress: (fraction: number, message?: string) => Promise<void>;
  /** Keeps a line with the attempt. */
  readonly log: (line: string) => Promise<void>;
  /** Says that the handler is alive, for tasks that time out by their silence. */
  readonly heartbeat: () => Promise<void>;
  /**
   * Hears every signal from now on, and those that came before anybody listened. Returns a function
   * that ends it.
   */
  readonly onSignal: (listener: SignalListener) => () => void;
}
