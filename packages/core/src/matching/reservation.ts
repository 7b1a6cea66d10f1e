import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Decision } from '../decision/decision.ts';
import { headFor, queueAt, rankOfTask } from '../decision/waiting-line.ts';
import { isOverdue } from '../state/deadlines.ts';
import type { Session } from '../workers/roster.ts';

/**
 * Keeps a big task from waiting for ever while small ones fill every room that appears.
 *
 * A task that waited longer than a bound is not overtaken any more on a worker that could run it:
 * the worker's room is kept for it. Such a worker is given only the task itself and tasks that go
 * before it, so that a reservation holds back nobody who had the better claim. It ends when the
 * task leaves its place in the queue, or the session goes or changes its offer.
 *
 * Once it was given the task, the worker is given as many others as it runs before its room is kept
 * again. A worker whose room is kept all the time runs tasks strictly in line and idles what the
 * first in line does not need; with a long backlog everybody has waited long, and as many workers
 * as may keep room would be like that (docs/decisions/0009-placement.md).
 */

/** Reservations idle room: at most one session in so many has one, and at most so many in all. */
const SESSIONS_PER_RESERVATION = 4;
const RESERVATIONS_MAX = 16;

/**
 * Called before a session is given the task in `slot`: reserves the session when that task would
 * overtake one that waited too long, and answers whether it did.
 */
export function reserveInstead(decision: Decision, session: Session, slot: Slot): boolean {
  const { roster } = decision;
  if (session.reservedFor !== NO_SLOT) return false;
  if (session.leases < session.keepsRoomFrom) return false;
  if (roster.reservationCount >= reservationsMax(roster.size)) return false;
  const overtaken = overtakenBy(decision, session, slot);
  // One whose deadline has passed gets no lease, so it overtakes nobody (M4).
  if (overtaken === NO_SLOT || isOverdue(decision.state, slot, decision.now)) return false;
  roster.reserve(session, overtaken);
  return true;
}

function reservationsMax(sessions: number): number {
  const share = Math.floor(sessions / SESSIONS_PER_RESERVATION);
  return Math.min(RESERVATIONS_MAX, Math.max(1, share));
}

/** The first in line of those that waited too long for this session to be filled with others. */
function overtakenBy(decision: Decision, session: Session, slot: Slot): Slot {
  const { state, roster, now } = decision;
  const { tasks, texts } = state;
  const since = now - decision.matching.reserveAfterMs;
  let first = NO_SLOT;
  let firstRank = rankOfTask(tasks, slot);
  for (let place = 0; place < session.types.length; place++) {
    const queue = queueAt(decision, session, place);
    if (queue === undefined) continue;
    const { open, ranks } = queue;
    for (let i = 0; i < ranks.length; i++) {
      if (ranks[i] >= firstRank) continue;
      const lane = open[i];
      const head = headFor(state, session, lane);
      if (head === NO_SLOT || tasks.dueAt[head] > since) continue;
      if (isOverdue(state, head, now)) continue;
      const rank = rankOfTask(tasks, head);
      const shape = texts.shape.at(lane.shape);
      if (rank >= firstRank || session.room.fits(shape) || !session.room.couldFit(shape)) continue;
      if (roster.reserverOf(head) !== undefined) continue;
      first = head;
      firstRank = rank;
    }
  }
  return first;
}
