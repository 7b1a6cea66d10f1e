import { createHash } from 'node:crypto';

/**
 * The public id of a session's worker. The session id is secret: a client that knows it can act for
 * the worker.
 */
export function workerIdOf(session: string): string {
  return `w_${createHash('sha256').update(session).digest('hex').slice(0, 20)}`;
}
