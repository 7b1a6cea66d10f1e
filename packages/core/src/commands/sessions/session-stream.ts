import type { SessionId } from '../../base/ids.ts';
import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { heldBy, updateRoom } from '../../matching/matching.ts';
import type { Session } from '../../workers/roster.ts';

/** The stream of a session broke. Nothing is lost by that alone. */
export interface DisconnectSession {
  readonly type: 'disconnect_session';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
}

/** The stream of a session broke: it gets nothing more, and keeps what it has until it is lost. */
export function decideDisconnectSession(decision: Decision, command: DisconnectSession): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.connected = false;
  // A session without leases lives by its stream; from here on its silence counts.
  if (heldBy(decision.state, session) === 0) session.heardAt = decision.now;
  leaveAlone(decision, session);
}

/** Pushes of this cost, by `pushCost`, have left the server. */
export interface SessionRead {
  readonly type: 'session_read';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
  readonly bytes: number;
}

/** The worker read some of what was on its way: it may get more. */
export function decideSessionRead(decision: Decision, command: SessionRead): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.unsentBytes = Math.max(0, session.unsentBytes - command.bytes);
  decision.pending.add(session);
}

/** An operator wants a worker to get nothing new; it keeps what it runs. */
export interface DrainSession {
  readonly type: 'drain_session';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
  readonly by?: Author;
}

export interface DrainSessionReply {
  readonly found: boolean;
}

/** The worker gets nothing new and keeps what it runs. It stays so over a broken connection. */
export function decideDrainSession(decision: Decision, command: DrainSession): DrainSessionReply {
  const session = decision.roster.findIn(command.namespace, command.session);
  if (session === undefined) return { found: false };
  if (!session.draining) {
    audit(decision, command.by, { namespace: command.namespace, action: 'worker_drained' });
  }
  session.draining = true;
  leaveAlone(decision, session);
  return { found: true };
}

/** The session is given nothing more: a task for which it kept room may look elsewhere. */
function leaveAlone(decision: Decision, session: Session): void {
  decision.roster.unreserve(session);
  updateRoom(decision, session);
}
