import { DatabaseError } from 'pg';
import { ConnectionLostError } from './session.ts';

/**
 * - `unreachable`: the statement may have been carried out or not; the same again, on another
 *   connection.
 * - `full`: no room. The statement was rolled back.
 * - `missing`: a table does not exist.
 * - `other`: repeating it would not help.
 */
export type Failure = 'unreachable' | 'full' | 'missing' | 'other';

/**
 * Lost connections, a server that became read-only, transactions that were rolled back for the sake
 * of others, too many connections, a server that starts or stops.
 */
const UNREACHABLE = /^(?:08...|25006|40...|53300|57P0.)$/;

const DISK_FULL = '53100';
const UNDEFINED_TABLE = '42P01';

export function failureOf(cause: unknown): Failure {
  if (cause instanceof ConnectionLostError) return 'unreachable';
  if (!(cause instanceof DatabaseError) || cause.code === undefined) return 'other';
  if (cause.code === DISK_FULL) return 'full';
  if (cause.code === UNDEFINED_TABLE) return 'missing';
  return UNREACHABLE.test(cause.code) ? 'unreachable' : 'other';
}
