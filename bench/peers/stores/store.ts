/** Where a contender keeps its tasks: one or more server processes with a separate folder. */
export interface Store {
  /** Address for clients and workers. It stays the same after a restart. */
  readonly address: string;
  /** The root process of the store. */
  readonly pid: number;
  /** Kills it without warning, and restarts it on the same data. */
  killAndStart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}
