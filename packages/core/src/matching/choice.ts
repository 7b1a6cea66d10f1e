import { NO_SLOT, type Slot } from '../base/ids.ts';
import type { Decision } from '../decision/decision.ts';
import {
  goesBefore,
  headFor,
  mayTake,
  queueAt,
  rankLimit,
  rankOfTask,
} from '../decision/waiting-line.ts';
import { rankOf } from '../state/ready-queue.ts';
import type { ReadonlyLane, ReadonlyState } from '../state/state.ts';
import type { Ring, Session } from '../workers/roster.ts';
import { reserveInstead } from './reservation.ts';

/**
 * Number of sessions compared, starting with the first that may take the task. This is enough to
 * choose well among hundreds, at constant cost (docs/decisions/0009-placement.md).
 */
const SPREAD_LOOKS = 8;

/** The next task for the session; `NO_SLOT` when it may take none of the waiting tasks. */
export function chooseTask(decision: Decision, session: Session): Slot {
  for (;;) {
    const slot = nextFor(decision, session);
    if (slot === NO_SLOT || !reserveInstead(decision, session, slot)) return slot;
  }
}

/** Whether the session's next lease goes to the task that waited longest, if any waited long. */
export function isAgedTurn({ matching }: Decision, session: Session): boolean {
  return (session.leases + 1) % matching.agedLeaseEvery === 0;
}

function nextFor(decision: Decision, session: Session): Slot {
  const oldest = isAgedTurn(decision, session) ? longestWaiting(decision, session) : NO_SLOT;
  return oldest === NO_SLOT ? firstInLine(decision, session) : oldest;
}

function firstInLine(decision: Decision, session: Session): Slot {
  const { state } = decision;
  let best = NO_SLOT;
  let bestRank = rankLimit(state, session);
  for (let place = 0; place < session.types.length; place++) {
    const queue = queueAt(decision, session, place);
    // Every rank of a level is above the midpoint between it and the next higher level.
    if (queue === undefined || rankOf(queue.topLevel() + 1, 0) > bestRank) continue;
    const { open, ranks } = queue;
    for (let i = 0; i < ranks.length; i++) {
      if (ranks[i] > bestRank) continue;
      const lane = open[i];
      const slot = headFor(state, session, lane);
      if (slot === NO_SLOT) continue;
      const rank = slot === lane.head ? ranks[i] : rankOfTask(state.tasks, slot);
      if (rank > bestRank || !session.room.fits(state.texts.shape.at(lane.shape))) continue;
      best = slot;
      bestRank = rank;
    }
  }
  return best;
}

/** The head that waited longest, if it waited at least `ageAfterMs`; its level is ignored. */
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
      if (!session.room.fits(state.texts.shape.at(lane.shape))) continue;
      best = slot;
      since = tasks.dueAt[slot];
    }
  }
  return best;
}

/** The session for the first task of a lane; `undefined` when no session may take it. */
export function chooseSession(decision: Decision, lane: ReadonlyLane): Session | undefined {
  const slot = lane.head;
  const { placement = decision.matching.placement } = decision.state.texts.shape.at(lane.shape);
  const choose = placement === 'pack' ? bestFilled : cheapest;
  for (;;) {
    const ring = decision.roster.ring(lane.queue.key);
    const session = ring === undefined ? undefined : choose(decision.state, ring, slot);
    if (session === undefined || !reserveInstead(decision, session, slot)) return session;
  }
}

/**
 * Rotates through the ring, so that work spreads. Among the next few sessions that may take the
 * task, returns the one with the lowest cost. So a task that needs much of one resource goes where
 * that resource is left, and no worker runs out of one resource while it has plenty of another.
 */
function cheapest(state: ReadonlyState, ring: Ring, slot: Slot): Session | undefined {
  const { sessions } = ring;
  const shape = state.texts.shape.at(state.tasks.shape[slot]);
  let best: Session | undefined;
  let leastCost = 0;
  let place = ring.cursor;
  let looks = sessions.length;
  while (looks > 0) {
    if (place >= sessions.length) place = 0;
    const session = sessions[place++];
    looks -= 1;
    if (!mayTake(state, session, slot)) continue;
    const cost = session.room.costOf(shape);
    if (best === undefined) looks = Math.min(looks, SPREAD_LOOKS - 1);
    else if (cost >= leastCost) continue;
    best = session;
    leastCost = cost;
    ring.cursor = place;
  }
  return best;
}

/** The session whose room the task fills best. */
function bestFilled(state: ReadonlyState, ring: Ring, slot: Slot): Session | undefined {
  const shape = state.texts.shape.at(state.tasks.shape[slot]);
  let best: Session | undefined;
  let bestFilling = 0;
  for (const session of ring.sessions) {
    if (!mayTake(state, session, slot)) continue;
    const filling = session.room.fillingWith(shape);
    if (best !== undefined && filling <= bestFilling) continue;
    best = session;
    bestFilling = filling;
  }
  return best;
}
