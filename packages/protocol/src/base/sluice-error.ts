import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One problem of a request: its place, as a JSON pointer, and a description. */
export interface ErrorDetail {
  readonly path: string;
  readonly problem: string;
  /** Kind of the problem, where there are several: in workflow definitions. */
  readonly code?: string;
}

export interface SluiceErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** How long to wait before the same request may succeed. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** An error that a client can understand and act on. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: SluiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.details = options.details ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}
