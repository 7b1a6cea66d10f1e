import type { SessionId } from '../../base/ids.ts';
import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { heldBy, updateRoom } from '../../matching/matching.ts';
import type { Session } from '../../workers/roster.ts';

/** The stream of a session broke. The session keeps its leases. */
export interface DisconnectSession {
  readonly type: 'disconnect_session';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
}

/** The stream of a session broke. It gets no new tasks and keeps its leases until it expires. */
export function decideDisconnectSession(decision: Decision, command: DisconnectSession): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.connected = false;
  // A session without leases needs no heartbeat while its stream is open. Its silence counts from
  // now.
  if (heldBy(decision.state, session) === 0) session.heardAt = decision.now;
  leaveAlone(decision, session);
}

/** Pushes of this total cost (`pushCost`) have left the server. */
export interface SessionRead {
  readonly type: 'session_read';
  readonly now: number;
  readonly session: SessionId;
  readonly connection: number;
  readonly bytes: number;
}

/** The worker read some of the pushed data, so it may get more. */
export function decideSessionRead(decision: Decision, command: SessionRead): void {
  const session = decision.roster.find(command.session);
  if (session === undefined || session.connection !== command.connection) return;
  session.unsentBytes = Math.max(0, session.unsentBytes - command.bytes);
  decision.pending.add(session);
}

/** An operator drains a worker: it gets no new tasks and keeps its running ones. */
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

/** The worker gets no new tasks and keeps its running ones. A reconnect does not end the drain. */
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

/** The session gets no new tasks. The task that it reserved room for may go to another session. */
function leaveAlone(decision: Decision, session: Session): void {
  decision.roster.unreserve(session);
  updateRoom(decision, session);
}
