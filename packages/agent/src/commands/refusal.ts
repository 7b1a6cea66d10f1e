import { PermanentFailure } from '@sluice/sdk';

/** A failure that another attempt would repeat. */
export function refusal(code: string, message: string): Error {
  return coded(new PermanentFailure(message), code);
}

/** Without a stack: where the agent found out tells nobody anything. */
export function coded(error: Error, code: string): Error {
  delete error.stack;
  return Object.assign(error, { code });
}
