import type { SimProcess } from '../kernel/sim-process.ts';

/** What a client asks of the server. The body is JSON text. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: string;
}

/** What the client's side of an exchange hears, in this order; nothing after `ended`. */
export interface ClientSide {
  head(status: number): void;
  bytes(chunk: Uint8Array): void;
  /** `whole` when the server said all that it wanted to say. */
  ended(how: 'whole' | 'broken'): void;
}

/** One request and all that is answered to it, over a connection of its own. */
export interface Exchange {
  readonly id: number;
  readonly from: SimProcess;
  readonly request: ExchangeRequest;
}
