import { NO_HOLDER, type SessionId, type Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { Session } from '../../workers/roster.ts';

/** Counts the leases of a session that enters the roster with leases. */
export function countUse(decision: Decision, session: Session): void {
  const { state, roster } = decision;
  const slots = heldSlots(decision, session);
  session.room.count(slots.map((slot) => state.texts.shape.at(state.tasks.shape[slot])));
  roster.countTypes(
    session,
    slots.map((slot) => state.queues[state.tasks.queue[slot]].key),
  );
}

/** Newest lease first: each task returns to the head, so that the oldest ends up in front. */
export function heldSlots({ state }: Decision, session: Session): Slot[] {
  return heldBySession(state, session.id);
}

export function heldBySession(state: ReadonlyState, session: SessionId): Slot[] {
  const holder = state.holders.find(session);
  if (holder === NO_HOLDER) return [];
  const slots: Slot[] = [];
  state.holders.forEachHeld(holder, (slot) => slots.push(slot));
  return slots.reverse();
}
