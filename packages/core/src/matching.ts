import type { Decision } from './decision.ts';
import { NO_HOLDER, NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import type { Session } from './roster.ts';
import type { ReadonlyState } from './state.ts';

/**
 * Brings ready tasks and sessions with room together, in the turn in which one of them appears.
 *
 * M1 After every command: no queue that is not paused has both a task and a session with room. So a
 *    command needs to match only the queues it added to and the sessions it made room in.
 * M2 A session never holds more leases than it has slots.
 */

type Queue = ReadonlyState['queues'][number];

/** What a pushed task takes beside its input, about. */
const PUSH_ENVELOPE_BYTES = 256;

export function pushCost({ tasks }: ReadonlyState, slot: Slot): number {
  return tasks.inputLength[slot] + PUSH_ENVELOPE_BYTES;
}

/** Leases out the ready tasks of these queues as far as there is room, best task first. */
export function matchQueues(decision: Decision, queues: readonly Queue[]): void {
  if (queues.length === 1) {
    matchQueue(decision, queues[0]);
    return;
  }
  let open = queues;
  for (;;) {
    open = open.filter((queue) => isOpen(decision, queue));
    const best = bestOf(decision.state, open);
    const session = best === undefined ? undefined : decision.roster.pick(best.key);
    if (best === undefined || session === undefined) return;
    lease(decision, best.first(), session);
  }
}

function isOpen({ roster }: Decision, queue: Queue): boolean {
  return queue.depth > 0 && !queue.paused && roster.hasRoomFor(queue.key);
}

function matchQueue(decision: Decision, queue: Queue): void {
  if (queue.paused) return;
  for (let slot = queue.first(); slot !== NO_SLOT; slot = queue.first()) {
    const session = decision.roster.pick(queue.key);
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
  const isReading = session.unsentBytes < decision.state.limits.unsentBytesMax;
  const hasSlot = heldBy(decision.state, session) < session.slots;
  decision.roster.setRoom(session, session.connected && isReading && hasSlot);
}

export function heldBy(state: ReadonlyState, session: Session): number {
  const holder = state.holders.find(session.id);
  return holder === NO_HOLDER ? 0 : state.holders.at(holder).held.length;
}

function bestTaskFor(state: ReadonlyState, session: Session): Slot {
  const queues: Queue[] = [];
  for (const type of session.types) {
    const queue = state.queueOf(type);
    if (queue !== undefined && queue.depth > 0 && !queue.paused) queues.push(queue);
  }
  return bestOf(state, queues)?.first() ?? NO_SLOT;
}

/** Of queues that are not empty: the one whose first task has the highest level, then is oldest. */
function bestOf({ tasks }: ReadonlyState, queues: readonly Queue[]): Queue | undefined {
  let best: Queue | undefined;
  for (const queue of queues) {
    const lead = best === undefined ? 1 : queue.topLevel() - best.topLevel();
    const isOlder = best !== undefined && tasks.number[queue.first()] < tasks.number[best.first()];
    if (lead > 0 || (lead === 0 && isOlder)) best = queue;
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

  listenFor(decision, slot, decision.now);
  session.unsentBytes += pushCost(state, slot);
  outputs.pushSessions.push(session.id);
  outputs.pushSlots.push(slot);
  updateRoom(decision, session);
}

/** The lease was heard of at this time; a silence that is limited is counted from here. */
export function listenFor({ state, activity }: Decision, slot: Slot, heardAt: number): void {
  const { timeouts } = state.tasks;
  if (timeouts[slot] === 0) return;
  activity.hear(slot, heardAt + state.timeouts.at(timeouts[slot]).heartbeatMs);
}
