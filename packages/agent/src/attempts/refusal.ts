import { PermanentFailure, RetryAfter } from '@sluice/sdk';
import type { CommandFailure } from '../logic/command-end.ts';

/** A failure that another attempt would repeat. */
export function refusal(code: string, message: string): Error {
  return coded(new PermanentFailure(message), code);
}

/** Without a stack: where the agent found out tells nobody anything. */
function coded(error: Error, code: string): Error {
  delete error.stack;
  return Object.assign(error, { code });
}

/** What a handler throws for a failure. */
export function errorOf({ code, message, isRetryable, retryAfterMs }: CommandFailure): Error {
  if (!isRetryable) return refusal(code, message);
  const isLater = retryAfterMs !== undefined;
  return coded(isLater ? new RetryAfter(retryAfterMs, message) : new Error(message), code);
}
