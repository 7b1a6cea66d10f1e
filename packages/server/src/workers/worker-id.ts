import { createHash } from 'node:crypto';

/**
 * What people call the worker of a session. The session's own id is secret: who knows it can speak
 * for the worker.
 */
export function workerIdOf(session: string): string {
  return `w_${createHash('sha256').update(session).digest('hex').slice(0, 20)}`;
}
