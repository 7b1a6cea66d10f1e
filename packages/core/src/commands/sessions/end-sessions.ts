import { NO_HOLDER, type SessionId } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { loseLease } from '../../decision/lease-ends.ts';
import { HANDED_BACK_REASON, WORKER_LOST_REASON } from '../../task/task-state.ts';
import type { Session } from '../../workers/roster.ts';
import { heldSlots } from './held-slots.ts';

/** A worker leaves and hands back its leases. */
export interface DetachSession {
  readonly type: 'detach_session';
  readonly now: number;
  readonly namespace: string;
  readonly session: SessionId;
}

export interface DetachSessionReply {
  readonly found: boolean;
}

export function decideDetachSession(
  decision: Decision,
  command: DetachSession,
): DetachSessionReply {
  const session = decision.roster.findIn(command.namespace, command.session);
  if (session === undefined) return { found: false };
  end(decision, [session], HANDED_BACK_REASON);
  return { found: true };
}

/** Ends sessions that have been silent for too long. */
export interface ExpireSessions {
  readonly type: 'expire_sessions';
  readonly now: number;
}

export function decideExpireSessions(decision: Decision, _command: ExpireSessions): void {
  const lost = [...decision.roster.sessions()].filter((session) => isLost(decision, session));
  end(decision, lost, WORKER_LOST_REASON);
}

function isLost({ state, now }: Decision, session: Session): boolean {
  const holder = state.holders.find(session.id);
  const held = holder === NO_HOLDER ? 0 : state.holders.at(holder).held.length;
  if (held === 0) return !session.connected && now >= session.heardAt + session.leaseMs;

  const heardAt = Math.max(session.heardAt, state.holders.at(holder).heldSince);
  return now >= Math.max(heardAt + session.leaseMs, session.graceUntil);
}

/**
 * Ends the sessions; their tasks return to the heads of their queues. All sessions leave the roster
 * first, so that none of them is given a task of another.
 */
function end(decision: Decision, sessions: readonly Session[], reason: number): void {
  for (const session of sessions) {
    decision.roster.remove(session);
    decision.outputs.closedSessions.push(session.id);
  }
  const slots = sessions.flatMap((session) => heldSlots(decision, session));
  for (const slot of slots) loseLease(decision, slot, reason);
}
