/** Why a request gave no output. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly code: string;
  /** False when the same request would fail again. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    { retryable = true, retryAfterMs }: { retryable?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}
