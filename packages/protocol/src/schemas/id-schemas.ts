import { Type } from 'typebox';

/**
 * The form of ids, wherever they are read. Ids are opaque, so that one of the right form which
 * nobody knows is not found, rather than refused; what has another form is never kept anywhere.
 */
const ID = '^[A-Za-z0-9_-]{1,64}$';

export function idOf(what: string, example: string) {
  return Type.String({ pattern: ID, description: `Id of ${what}.`, examples: [example] });
}

export const TaskId = idOf('a task', 't_01k7f6b1oj0000000001');

const SESSION_ID = /^s_[A-Za-z0-9_-]{24}$/;

/** As the server made it: a worker cannot choose one that somebody might guess. */
export const SessionId = Type.String({ pattern: SESSION_ID.source });

/** Whether a server can have given out such a session id. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}
