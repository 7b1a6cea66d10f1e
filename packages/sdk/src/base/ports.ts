/**
 * What the logic of workers and clients needs of the world: requests, time and chance. Production
 * has sockets and clocks behind it, the simulator a world of its own.
 *
 * Nothing here calls back before the call that asked for it has returned.
 */

/** Takes back what was asked for: its callback is not called any more. */
export type Cancel = () => void;

export interface HttpRequest {
  /** Place in the list of the server's addresses. */
  readonly address: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** JSON; absent when the request has no body. */
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The header, as it came. */
  readonly retryAfter?: string;
}

export interface StreamListener {
  /** The next bytes of an answer with status 200. They belong to the listener. */
  bytes(chunk: Uint8Array): void;
  /** The stream is over, or never was; `refusal` is an answer with another status. */
  ended(refusal?: HttpAnswer): void;
}

export interface RequestPort {
  /** Calls back with the answer, or with nothing when none arrived whole (L10). */
  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel;
}

export interface StreamPort {
  /** Keeps an answer open that goes on; cancelling closes it. */
  openStream(request: HttpRequest, listener: StreamListener): Cancel;
}

export interface TimePort {
  /** Milliseconds that only ever run forward. */
  now(): number;
  startTimer(delayMs: number, run: () => void): Cancel;
  /** After all that happens now, and before time passes: what happens together leaves together. */
  atEndOfTurn(run: () => void): void;
}

export interface ChancePort {
  /** From 0 to below 1. */
  random(): number;
}

/** All that a client needs. */
export interface ClientPorts extends RequestPort, TimePort, ChancePort {}
