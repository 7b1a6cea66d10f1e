import { NO_HOLDER, NO_SLOT, type Slot, type TaskNumber } from '../base/ids.ts';
import type { Decision } from '../decision/decision.ts';
import { expireTask } from '../decision/lease-ends.ts';
import { isOverdue } from '../state/deadlines.ts';
import type { ReadonlyLane, ReadonlyState } from '../state/state.ts';
import type { Session } from '../workers/roster.ts';
import { chooseSession, chooseTask, isAgedTurn } from './choice.ts';
import { LaneHeap } from './lane-heap.ts';

/**
 * Matches ready tasks with sessions that have room, within the command in which either appears.
 *
 * matching.no-idle-fit: After every command no ready task of a queue that is not paused fits a
 *   session that has room for it. There are two exceptions: a session with a reservation takes only
 *   the reserved task and tasks that go before it (matching.level-order), and a session is not
 *   given a task that it refused a moment ago. So a command needs to match only the lanes that it
 *   opened, the sessions that it made room in, the sessions with an exception, and what the
 *   previous command left to it (matching.no-overdue).
 * matching.within-offer: A lease is granted only when the session's leases, including the new one,
 *   stay within its offer.
 * matching.level-order: Among the tasks that a session may take, the highest level goes first, and
 *   within a level the oldest. Every eighth lease of a session goes to the task that waited
 *   longest, if any waited long. And room is reserved for a task that waited long, so that it is
 *   not overtaken for ever where it could run (see reservation.ts).
 * matching.no-overdue: A task whose deadline has passed gets no lease, even if its timer has not
 *   fired: it ends as `expired` instead of getting a lease. A command expires a bounded number of
 *   tasks. The rest of the matching is left to the next command, which the due timers trigger.
 */

/** Approximate size of a pushed task without its input. */
const PUSH_ENVELOPE_BYTES = 256;

/** Maximum number of overdue tasks that one command expires (L9). */
export const OVERDUE_PER_COMMAND = 1000;

/** A worker with this many recent refusals gets no tasks until some of them expire. */
export const REFUSALS_MAX = 100;

export function pushCost({ tasks, texts }: ReadonlyState, slot: Slot): number {
  const tagBytes = tasks.tags[slot] === 0 ? 0 : texts.tags.textAt(tasks.tags[slot]).length;
  return tasks.inputLength[slot] + tagBytes + PUSH_ENVELOPE_BYTES;
}

/** Like `pushCost`, for a signal to a worker. */
export function signalCost({ name, data }: { name: string; data: Uint8Array }): number {
  return name.length + data.length + PUSH_ENVELOPE_BYTES;
}

/**
 * Grants leases for what the command readied or made room for; the last step of every command.
 * While leases may not be granted, this work accumulates. The first command that may grant leases
 * does all of it.
 */
export function settle(decision: Decision): void {
  if (!decision.grantsLeases) return;
  const { pending, roster, now } = decision;
  for (;;) {
    const session = roster.takeEndedRefusal(now);
    if (session === undefined) break;
    pending.add(session);
  }
  pending.addExceptions();

  const endsMax = decision.outputs.endedSlots.length + OVERDUE_PER_COMMAND;
  while (!mustWait(decision, endsMax)) {
    const session = pending.next();
    if (session !== undefined) fill(decision, session, endsMax);
    else if (pending.hasLanes) matchLanes(decision, endsMax);
    else return;
  }
}

/** Whether the rest of the matching is left to the next command (matching.no-overdue). */
function mustWait({ state, outputs, now }: Decision, endsMax: number): boolean {
  return outputs.endedSlots.length >= endsMax && state.timers.firstDue(now) !== NO_SLOT;
}

/** Gives a session all tasks that it may take, best task first. */
function fill(decision: Decision, session: Session, endsMax: number): void {
  updateRoom(decision, session);
  while (session.hasRoom) {
    if (mustWait(decision, endsMax)) return decision.pending.add(session);
    const slot = chooseTask(decision, session);
    if (slot === NO_SLOT) return;
    if (isOverdue(decision.state, slot, decision.now)) expireTask(decision, slot);
    else lease(decision, slot, session);
  }
}

/** Finds sessions for the tasks of lanes that were empty, best task first. */
function matchLanes(decision: Decision, endsMax: number): void {
  const { pending, roster } = decision;
  const only = pending.takeOnlyLane();
  if (only !== undefined) {
    while (only.length > 0 && !only.queue.paused) {
      if (mustWait(decision, endsMax)) return pending.putBack([only]);
      if (matchHead(decision, only) === NO_SLOT) return;
    }
    return;
  }
  const lanes = pending
    .takeLanes()
    .filter(({ queue }) => !queue.paused && roster.ring(queue.key) !== undefined);
  const heap = new LaneHeap(lanes);
  for (let lane = heap.first; lane !== undefined; lane = heap.first) {
    if (mustWait(decision, endsMax)) return pending.putBack(lanes);
    const { head } = lane;
    const gone = lane.length > 0 ? matchHead(decision, lane) : NO_SLOT;
    if (gone === NO_SLOT) heap.dropFirst();
    else if (gone === head) heap.update();
    // Another lane has a new head, so the heap must be rebuilt with all lanes.
    else return pending.putBack(lanes);
  }
}

/**
 * Leases or expires the first task of the lane; returns `NO_SLOT` when it stays. When it is a
 * session's turn to take the task that waited longest, that task is leased and returned instead.
 * Without this, a queue that is paused and resumed repeatedly would let such a task wait for ever.
 */
function matchHead(decision: Decision, lane: ReadonlyLane): Slot {
  const { head } = lane;
  if (isOverdue(decision.state, head, decision.now)) {
    expireTask(decision, head);
    return head;
  }
  const session = chooseSession(decision, lane);
  if (session === undefined) return NO_SLOT;
  const slot = isAgedTurn(decision, session) ? chooseTask(decision, session) : head;
  if (slot === NO_SLOT) return slot;
  if (isOverdue(decision.state, slot, decision.now)) expireTask(decision, slot);
  else lease(decision, slot, session);
  return slot;
}

export function updateRoom(decision: Decision, session: Session): void {
  const { room } = session;
  const isThere = session.connected && !session.draining;
  const isReading = session.unsentBytes < decision.state.limits.unsentBytesMax;
  const isWilling = session.refused.size < REFUSALS_MAX;
  decision.roster.setRoom(session, isThere && isReading && isWilling && room.hasSlot);
}

export function heldBy(state: ReadonlyState, session: Session): number {
  const holder = state.holders.find(session.id);
  return holder === NO_HOLDER ? 0 : state.holders.at(holder).held.length;
}

/** The only place that grants a lease. */
function lease(decision: Decision, slot: Slot, session: Session): void {
  const { state, outputs } = decision;
  const event = decision.events.attemptLeased;
  const wasKept = session.reservedFor === slot;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.lease = state.nextLease;
  event.session = session.id;
  event.worker = session.worker;
  event.leaseMs = session.leaseMs;
  event.resume = session.resumeNumber;
  decision.emit(event);

  listenFor(decision, slot, decision.now);
  session.leases += 1;
  if (wasKept) session.keepsRoomFrom = session.leases + heldBy(state, session);
  session.unsentBytes += pushCost(state, slot);
  outputs.pushSessions.push(session.id);
  outputs.pushSlots.push(slot);
  updateRoom(decision, session);
}

/** Restarts the heartbeat timeout of a lease, if it has one, from this time. */
export function listenFor({ state, activity }: Decision, slot: Slot, heardAt: number): void {
  const { timeouts } = state.tasks;
  if (timeouts[slot] === 0) return;
  activity.hear(slot, heardAt + state.texts.timeouts.at(timeouts[slot]).heartbeatMs);
}
