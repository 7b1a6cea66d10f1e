import { chooseSession, chooseTask } from './choice.ts';
import type { Decision } from './decision.ts';
import { NO_HOLDER, NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import { LaneHeap } from './lane-heap.ts';
import type { Session } from './roster.ts';
import type { ReadonlyState } from './state.ts';

/**
 * Brings ready tasks and sessions with room together, in the turn in which one of them appears.
 *
 * M1 After every command no ready task of a queue that is not paused fits a session that has room
 *    for it. Two exceptions: a session whose room is kept for a task takes only that one and those
 *    that go before it (M3), and a session is spared for a moment what it refused. So a command
 *    needs to match only the lanes that it opened, the sessions that it made room in, and the
 *    sessions with an exception.
 * M2 A lease is granted only when what is leased to the session, with it, is within its offer.
 * M3 Among the tasks that a session may take, the highest level goes first, and in a level the
 *    oldest. Every eighth lease of a session goes to the task that waited longest, if that was
 *    long. And a task that waited long is not overtaken where it could run (see reservation.ts).
 */
export interface MatchingOptions {
  /** `spread` goes round among the workers; `pack` fills one before it begins another. */
  readonly placement: 'pack' | 'spread';
  /** A task that waited this long has room kept for it rather than being overtaken. */
  readonly reserveAfterMs: number;
  /** The level of a task that waited this long does not count in every so many leases. */
  readonly ageAfterMs: number;
  readonly agedLeaseEvery: number;
}

export const MATCHING_DEFAULTS: MatchingOptions = {
  placement: 'spread',
  reserveAfterMs: 10_000,
  ageAfterMs: 30_000,
  agedLeaseEvery: 8,
};

/** What a pushed task takes beside its input, about. */
const PUSH_ENVELOPE_BYTES = 256;

/** A worker that refused so many tasks a moment ago is left alone until that moment is over. */
export const REFUSALS_MAX = 100;

export function pushCost({ tasks, tags }: ReadonlyState, slot: Slot): number {
  const tagBytes = tasks.tags[slot] === 0 ? 0 : tags.textAt(tasks.tags[slot]).length;
  return tasks.inputLength[slot] + tagBytes + PUSH_ENVELOPE_BYTES;
}

/** As `pushCost`, of a word for a worker. */
export function signalCost({ name, data }: { name: string; data: Uint8Array }): number {
  return name.length + data.length + PUSH_ENVELOPE_BYTES;
}

/**
 * Leases out what the command readied or made room for: the last step of every command. While no
 * lease is to be granted that adds up, and the first command that may grant them settles it all;
 * levels count then, however long a task waited.
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

  let session = pending.next();
  while (session !== undefined || pending.hasLanes) {
    if (session === undefined) matchLanes(decision);
    else fill(decision, session);
    session = pending.next();
  }
}

/** Gives a session all that it may take, best task first. */
function fill(decision: Decision, session: Session): void {
  updateRoom(decision, session);
  while (session.hasRoom) {
    const slot = chooseTask(decision, session);
    if (slot === NO_SLOT) return;
    lease(decision, slot, session);
  }
}

/** Finds sessions for the tasks of lanes that were empty, best task first. */
function matchLanes(decision: Decision): void {
  const only = decision.pending.takeOnlyLane();
  if (only !== undefined) {
    while (only.length > 0 && !only.queue.paused) {
      const session = chooseSession(decision, only);
      if (session === undefined) return;
      lease(decision, only.head, session);
    }
    return;
  }
  const lanes = decision.pending
    .takeLanes()
    .filter(({ queue }) => !queue.paused && decision.roster.ring(queue.key) !== undefined);
  const heap = new LaneHeap(lanes);
  for (let lane = heap.first; lane !== undefined; lane = heap.first) {
    const session = lane.length === 0 ? undefined : chooseSession(decision, lane);
    if (session === undefined) {
      heap.dropFirst();
    } else {
      lease(decision, lane.head, session);
      heap.update();
    }
  }
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
  session.leases += 1;
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
