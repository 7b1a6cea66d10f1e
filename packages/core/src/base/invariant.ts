/**
 * Stops the process when something that must be true is not.
 *
 * Nobody catches this: memory can no longer be trusted, and the log brings back what was promised.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Makes a `switch` exhaustive for the compiler and loud at run time. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}
