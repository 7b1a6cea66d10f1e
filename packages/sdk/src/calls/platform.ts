import type { Cancel, RequestPort, StreamPort, TimePort } from '../base/ports.ts';

/** Requests over real connections. */
export interface Transport extends RequestPort, StreamPort {
  /** Closes idle connections. */
  close(): void;
}

/** The server's addresses, and the headers of every request. */
export interface TransportOptions {
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Whether requests may go to the owner of a cluster instead, if it names itself. */
  readonly followsOwner?: boolean;
}

/** What a worker uses now, as far as it can be measured. */
export interface WorkerUse {
  /** Cores, as an average since the measurement before. */
  readonly cpu?: number;
  readonly memoryMb?: number;
}

/** What the SDK needs from its environment, besides clocks: Node or a browser. */
export interface Platform {
  /** The server's default address. */
  defaultUrl(): string;
  /** A variable of the environment; undefined where there is none. */
  setting(name: string): string | undefined;
  connect(options: TransportOptions): Transport;
  readonly atEndOfTurn: TimePort['atEndOfTurn'];
  /** How many waits for runs have a request at once; browsers open few connections. */
  readonly runWaitsMax: number;
  /** The default name of a worker. */
  workerName(): string;
  /** Starts to measure this process; absent where that is not possible. */
  readonly startMeter?: () => () => WorkerUse;
  /** Calls `stop` when the process is asked to end, and lets it end afterwards. */
  onTermination(stop: () => Promise<void>): Cancel;
}
