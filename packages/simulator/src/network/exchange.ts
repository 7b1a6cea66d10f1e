import type { RequestKey } from '@sluice/sdk/logic';
import type { SimProcess } from '../kernel/sim-process.ts';

/** A request of a client. The body is JSON text. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: string;
  /** Headers, in production. */
  readonly requestKey?: RequestKey;
}

/** What the client receives during an exchange, in this order. Nothing follows `ended`. */
export interface ClientSide {
  /** With the key of the request, if the server remembers it. */
  head(status: number, requestKey?: string): void;
  bytes(chunk: Uint8Array): void;
  /** `whole` when the server sent the complete answer. */
  ended(how: 'whole' | 'broken'): void;
}

/** One request and its whole answer, over a separate connection. */
export interface Exchange {
  readonly id: number;
  readonly from: SimProcess;
  readonly request: ExchangeRequest;
}
