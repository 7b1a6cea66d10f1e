import type { Decision } from './decision.ts';
import { NO_HOLDER, NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import type { Session } from './roster.ts';
import type { ReadonlyState } from './state.ts';

/**
 * Brings ready tasks and sessions with room together, in the turn in which one of them appears.
 *
 * M1 After every command: no type has both a ready task and a session with room. So a command needs
 *    to match only the queues it added to and the sessions it made room in.
 * M2 A session never holds more leases than it has slots.
 */

type Queue = ReadonlyState['queues'][number];

/** Leases out the ready tasks of one queue as far as there is room. */
export function matchQueue(decision: Decision, queue: Queue): void {
  for (let slot = queue.first(); slot !== NO_SLOT; slot = queue.first()) {
    const session = decision.roster.pick(queue.type);
    if (session === undefined) return;
    lease(decision, slot, session);
  }
}

/** Fills a session that has room, best task first. */
export function matchSession(decision: Decision, session: Session): void {
  updateRoom(decision, session);
  while (session.hasRoom) {
    const slot = bestTaskFor(decision.state, session);
    if (slot === NO_SLOT) return;
    lease(decision, slot, session);
  }
}

export function updateRoom(decision: Decision, session: Session): void {
  const room = session.connected && heldBy(decision.state, session) < session.slots;
  decision.roster.setRoom(session, room);
}

export function heldBy(state: ReadonlyState, session: Session): number {
  const holder = state.holders.find(session.id);
  return holder === NO_HOLDER ? 0 : state.holders.at(holder).held.length;
}

/** Highest level first; among the types of one level the oldest task. */
function bestTaskFor(state: ReadonlyState, session: Session): Slot {
  let best: Slot = NO_SLOT;
  let bestLevel = -1;
  for (const type of session.types) {
    const queue = state.queueOf(type);
    if (queue === undefined) continue;
    const level = queue.topLevel();
    if (level < 0 || level < bestLevel) continue;
    const slot = queue.first();
    if (level === bestLevel && state.tasks.number[slot] > state.tasks.number[best]) continue;
    best = slot;
    bestLevel = level;
  }
  return best;
}

/** The one place where a lease is granted. */
function lease(decision: Decision, slot: Slot, session: Session): void {
  const { state, outputs } = decision;
  const event = decision.events.attemptLeased;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.lease = state.nextLease;
  event.session = session.id;
  event.worker = session.worker;
  event.leaseMs = session.leaseMs;
  decision.emit(event);

  outputs.pushSessions.push(session.id);
  outputs.pushSlots.push(slot);
  updateRoom(decision, session);
}
