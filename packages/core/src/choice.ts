import type { Decision } from './decision.ts';
import { NO_SLOT, type Slot } from './ids.ts';
import { rankOf } from './ready-queue.ts';
import { reserveInstead } from './reservation.ts';
import type { Ring, Session } from './roster.ts';
import type { ReadonlyLane, ReadonlyState } from './state.ts';
import { goesBefore, headFor, mayTake, queueAt, rankLimit, rankOfTask } from './waiting-line.ts';

/** The task that the session is given next; `NO_SLOT` when it may take none of those that wait. */
export function chooseTask(decision: Decision, session: Session): Slot {
  for (;;) {
    const slot = nextFor(decision, session);
    if (slot === NO_SLOT || !reserveInstead(decision, session, slot)) return slot;
  }
}

function nextFor(decision: Decision, session: Session): Slot {
  const { agedLeaseEvery } = decision.matching;
  const isAgedTurn = (session.leases + 1) % agedLeaseEvery === 0;
  const oldest = isAgedTurn ? longestWaiting(decision, session) : NO_SLOT;
  return oldest === NO_SLOT ? firstInLine(decision, session) : oldest;
}

function firstInLine(decision: Decision, session: Session): Slot {
  const { state } = decision;
  let best = NO_SLOT;
  let bestRank = rankLimit(state, session);
  for (let place = 0; place < session.types.length; place++) {
    const queue = queueAt(decision, session, place);
    // Every rank of a level lies above the middle between it and the next higher level.
    if (queue === undefined || rankOf(queue.topLevel() + 1, 0) > bestRank) continue;
    const { open, ranks } = queue;
    for (let i = 0; i < ranks.length; i++) {
      if (ranks[i] > bestRank) continue;
      const lane = open[i];
      const slot = headFor(state, session, lane);
      if (slot === NO_SLOT) continue;
      const rank = slot === lane.head ? ranks[i] : rankOfTask(state.tasks, slot);
      if (rank > bestRank || !session.room.fits(state.shapes.at(lane.shape))) continue;
      best = slot;
      bestRank = rank;
    }
  }
  return best;
}

/** Of the heads that waited so long that their level no longer counts: the one that did longest. */
function longestWaiting(decision: Decision, session: Session): Slot {
  const { state, now } = decision;
  const { tasks } = state;
  const limit = rankLimit(state, session);
  let best = NO_SLOT;
  let since = now - decision.matching.ageAfterMs;
  for (let place = 0; place < session.types.length; place++) {
    const queue = queueAt(decision, session, place);
    if (queue === undefined) continue;
    for (const lane of queue.open) {
      const slot = headFor(state, session, lane);
      if (slot === NO_SLOT || tasks.dueAt[slot] > since) continue;
      const isTie = tasks.dueAt[slot] === since && best !== NO_SLOT;
      if (isTie && !goesBefore(state, slot, best)) continue;
      if (rankOfTask(tasks, slot) > limit) continue;
      if (!session.room.fits(state.shapes.at(lane.shape))) continue;
      best = slot;
      since = tasks.dueAt[slot];
    }
  }
  return best;
}

/** Who runs the first task of a lane; `undefined` when nobody may take it. */
export function chooseSession(decision: Decision, lane: ReadonlyLane): Session | undefined {
  const slot = lane.head;
  const choose = decision.matching.placement === 'pack' ? fullest : nextInRing;
  for (;;) {
    const ring = decision.roster.ring(lane.queue.key);
    const session = ring === undefined ? undefined : choose(decision.state, ring, slot);
    if (session === undefined || !reserveInstead(decision, session, slot)) return session;
  }
}

/** Goes round, so that the work spreads. */
function nextInRing(state: ReadonlyState, ring: Ring, slot: Slot): Session | undefined {
  for (let n = ring.sessions.length; n > 0; n--) {
    if (ring.cursor >= ring.sessions.length) ring.cursor = 0;
    const session = ring.sessions[ring.cursor++];
    if (mayTake(state, session, slot)) return session;
  }
  return undefined;
}

/** The one that has the least room left afterwards. */
function fullest(state: ReadonlyState, ring: Ring, slot: Slot): Session | undefined {
  const shape = state.shapes.at(state.tasks.shape[slot]);
  let best: Session | undefined;
  let bestFullness = 0;
  for (const session of ring.sessions) {
    if (!mayTake(state, session, slot)) continue;
    const fullness = session.room.fullnessWith(shape);
    if (fullness > bestFullness) {
      best = session;
      bestFullness = fullness;
    }
  }
  return best;
}
