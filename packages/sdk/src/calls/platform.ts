import type { Cancel, RequestPort, StreamPort, TimePort } from '../base/ports.ts';

/** Requests over real connections. */
export interface Transport extends RequestPort, StreamPort {
  /** Lets go of connections that are kept for later. */
  close(): void;
}

/** Where to send requests, and what every one of them carries. */
export interface TransportOptions {
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What the SDK needs of where it runs, beside clocks: Node or a browser. */
export interface Platform {
  /** The server's address when nobody names one. */
  defaultUrl(): string;
  /** A variable of the environment; undefined where there is none. */
  setting(name: string): string | undefined;
  connect(options: TransportOptions): Transport;
  readonly atEndOfTurn: TimePort['atEndOfTurn'];
  /** What a worker is called when nobody names it. */
  workerName(): string;
  /** Calls `stop` when the process is asked to end, and lets it end after that. */
  onTermination(stop: () => Promise<void>): Cancel;
}
