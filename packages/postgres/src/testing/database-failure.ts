import { DatabaseError } from 'pg';

/** What the driver throws when the database refuses a statement with this code. */
export function databaseFailure(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code });
}
