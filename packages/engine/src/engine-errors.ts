/**
 * The engine no longer owns its partition. It is unknown whether pending commands became durable.
 */
export class EngineStoppedError extends Error {
  override readonly name = 'EngineStoppedError';
}

/** Another holder has the log: there is nothing to repair, and nothing may be released (L5). */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}
