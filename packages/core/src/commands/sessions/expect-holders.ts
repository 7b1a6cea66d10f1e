import type { Decision } from '../../decision/decision.ts';
import { listenFor } from '../../matching/matching.ts';
import { makeSession } from '../../workers/roster.ts';
import { countUse, heldBySession, heldSlots } from './held-slots.ts';

/**
 * After a restart, fills the empty roster with the sessions that hold leases, as disconnected. They
 * have a grace period to come back before their silence counts (L7).
 */
export function expectHolders(decision: Decision, now: number, graceMsMin: number): void {
  for (const holder of decision.state.holders.holding()) {
    const [slot] = heldBySession(decision.state, holder.session);
    const { namespace } = decision.state.queues[decision.state.tasks.queue[slot]];
    const session = makeSession(namespace, holder.session);
    session.worker = holder.worker;
    session.leaseMs = holder.leaseMs;
    session.resumeNumber = holder.resume;
    session.heardAt = now;
    // Rounded up: times derived from it are logged, and the log holds only whole numbers.
    session.graceUntil = now + Math.max(graceMsMin, Math.ceil(holder.leaseMs * 1.5));
    decision.roster.add(session);
    countUse(decision, session);
    for (const slot of heldSlots(decision, session)) {
      listenFor(decision, slot, session.graceUntil);
    }
  }
}
