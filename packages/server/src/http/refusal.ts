import type { ErrorCode } from '@sluice/protocol';

/**
 * A request that did not get what it wanted, as logs and metrics see it. The address is not in it,
 * nor what the error says: both may hold a session id, or a piece of a body.
 */
export interface Refusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string;
  readonly method?: string;
  /** The pattern of the route; absent when there is none for the address. */
  readonly route?: string;
  readonly cause?: unknown;
}

/** Who hears of requests that are refused, and names them. */
export interface RefusalDesk {
  readonly newRequestId: () => string;
  readonly refused: (refusal: Refusal) => void;
}
