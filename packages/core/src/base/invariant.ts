/**
 * Stops the process when something that must be true is false.
 *
 * No code catches this error: memory can no longer be trusted, and recovery from the log restores
 * everything that was acknowledged.
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
