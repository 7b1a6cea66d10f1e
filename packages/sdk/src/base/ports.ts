/**
 * What the logic of workers and clients needs from outside: requests, time and random numbers. In
 * production these are sockets and clocks; the simulator simulates them.
 *
 * No callback runs before the call that requested it has returned.
 */

/** Cancels a request or timer: its callback is not called afterwards. */
export type Cancel = () => void;

export interface HttpRequest {
  /** Index in the list of the server's addresses. */
  readonly address: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** JSON; absent when the request has no body. */
  readonly body?: string;
  /** For streams with ids: the stream continues after the event with this id. */
  readonly lastEventId?: string;
  /** The request may be sent again: the server remembers it by this key. */
  readonly requestKey?: RequestKey;
}

/** The key of a whole request, and how long the server remembers it. */
export interface RequestKey {
  readonly key: string;
  readonly windowMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The `Retry-After` header, as received. */
  readonly retryAfter?: string;
  /** The key of the request, from a server that remembers requests by their keys. */
  readonly requestKey?: string;
}

/** Why no complete answer arrived. */
export interface SendProblem {
  /** A few words for people. */
  readonly why: string;
  /** No byte of the request was sent. */
  readonly isUnsent?: boolean;
  /** The certificate of the server is not trusted. Trying again does not help. */
  readonly isUntrusted?: boolean;
}

export interface StreamListener {
  /** The server has answered with status 200. */
  opened?(): void;
  /** The next bytes of an answer with status 200. They belong to the listener. */
  bytes(chunk: Uint8Array): void;
  /** The stream ended, or was not opened; `refusal` is an answer with another status. */
  ended(refusal?: HttpAnswer, problem?: SendProblem): void;
}

/** Called with the answer, or with undefined when no complete answer arrived (L10). */
export type Answered = (answer: HttpAnswer | undefined, problem?: SendProblem) => void;

export interface RequestPort {
  send(request: HttpRequest, answered: Answered): Cancel;
}

export interface StreamPort {
  /** Opens an answer that stays open; cancelling closes it. */
  openStream(request: HttpRequest, listener: StreamListener): Cancel;
}

export interface TimePort {
  /** Milliseconds that only increase. */
  now(): number;
  startTimer(delayMs: number, run: () => void): Cancel;
  /**
   * Runs after everything that happens now and before time passes, so that what happens together is
   * sent together.
   */
  atEndOfTurn(run: () => void): void;
}

export interface ChancePort {
  /** From 0 to below 1. */
  random(): number;
}

/** Everything that a client needs. */
export interface ClientPorts extends RequestPort, TimePort, ChancePort {}
