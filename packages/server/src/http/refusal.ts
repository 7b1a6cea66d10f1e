import type { ErrorCode } from '@sluice/protocol';

/**
 * A request that was refused or failed, as logs and metrics see it. It contains neither the URL nor
 * the error message: both may hold a session id or part of a body.
 */
export interface Refusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string;
  readonly method?: string;
  /** The pattern of the route; absent when no route matches. */
  readonly route?: string;
  readonly cause?: unknown;
}

/** Issues request ids and receives refused requests. */
export interface RefusalDesk {
  readonly newRequestId: () => string;
  readonly refused: (refusal: Refusal) => void;
}
