import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Decision } from '../decision/decision.ts';
import { headFor, queueAt, rankOfTask } from '../decision/waiting-line.ts';
import { isOverdue } from '../state/deadlines.ts';
import type { Session } from '../workers/roster.ts';

/**
 * Keeps a big task from waiting for ever while small tasks take all room that appears.
 *
 * Once a task has waited longer than a limit, it is no longer overtaken on a worker that could run
 * it: the worker's room is reserved for it. Such a worker gets only the reserved task and tasks
 * that go before it, so a reservation delays no task with a better rank. It ends when the task
 * leaves its place in the queue, or when the session ends or changes its offer.
 *
 * After a worker got its reserved task, it gets as many other tasks as it runs before its room is
 * reserved again. A worker with a permanent reservation would run tasks strictly in order and leave
 * room idle that the first task does not need. With a long backlog every task has waited long, so
 * every worker that may have a reservation would be in that situation
 * (docs/decisions/0009-placement.md).
 */

/**
 * Reservations leave room idle, so both their share of the sessions and their number are limited.
 */
const SESSIONS_PER_RESERVATION = 4;
const RESERVATIONS_MAX = 16;

/**
 * Called before a session gets the task in `slot`. Reserves the session if that task would overtake
 * one that waited too long; returns whether it did.
 */
export function reserveInstead(decision: Decision, session: Session, slot: Slot): boolean {
  const { roster } = decision;
  if (session.reservedFor !== NO_SLOT) return false;
  if (session.leases < session.keepsRoomFrom) return false;
  if (roster.reservationCount >= reservationsMax(roster.size)) return false;
  const overtaken = overtakenBy(decision, session, slot);
  // An overdue task gets no lease, so it overtakes no task (matching.no-overdue).
  if (overtaken === NO_SLOT || isOverdue(decision.state, slot, decision.now)) return false;
  roster.reserve(session, overtaken);
  return true;
}

function reservationsMax(sessions: number): number {
  const share = Math.floor(sessions / SESSIONS_PER_RESERVATION);
  return Math.min(RESERVATIONS_MAX, Math.max(1, share));
}

/** The first task in line that waited too long, could run on this session, and does not fit now. */
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
