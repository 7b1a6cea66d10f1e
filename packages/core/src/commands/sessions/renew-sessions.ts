import type { Decision } from '../../decision/decision.ts';
import { listenFor } from '../../matching/matching.ts';
import { heldSlots } from './held-slots.ts';

/**
 * The server was not listening for a while. Every session counts as heard now and has its full
 * `leaseMs` again.
 */
export interface RenewSessions {
  readonly type: 'renew_sessions';
  readonly now: number;
}

export function decideRenewSessions(decision: Decision, _command: RenewSessions): void {
  for (const session of decision.roster.sessions()) {
    session.heardAt = decision.now;
    session.graceUntil = Math.max(session.graceUntil, decision.now + session.leaseMs);
    for (const slot of heldSlots(decision, session)) listenFor(decision, slot, decision.now);
  }
}
