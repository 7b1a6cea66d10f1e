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
 * How many sessions are looked at, from the first that may take a task on: enough to choose well
 * among hundreds, at a cost that does not grow with them (docs/decisions/0009-placement.md).
 */
const SPREAD_LOOKS = 8;

/** The task that the session is given next; `NO_SLOT` when it may take none of those that wait. */
export function chooseTask(decision: Decision, session: Session): Slot {
  for (;;) {
    const slot = nextFor(decision, session);
    if (slot === NO_SLOT || !reserveInstead(decision, session, slot)) return slot;
  }
}

/** Whether the next lease of the session is for the task that waited longest, if that was long. */
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
    // Every rank of a level lies above the middle between it and the next higher level.
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
      if (!session.room.fits(state.texts.shape.at(lane.shape))) continue;
      best = slot;
      since = tasks.dueAt[slot];
    }
  }
  return best;
}

/** Who runs the first task of a lane; `undefined` when nobody may take it. */
export function chooseSession(decision: Decision, lane: ReadonlyLane): Session | undefined {
  const slot = lane.head;
  const choose = decision.matching.placement === 'pack' ? bestFilled : cheapest;
  for (;;) {
    const ring = decision.roster.ring(lane.queue.key);
    const session = ring === undefined ? undefined : choose(decision.state, ring, slot);
    if (session === undefined || !reserveInstead(decision, session, slot)) return session;
  }
}

/**
 * Goes round, so that the work spreads: of the next few that may take the task, the one where it
 * costs least. So tasks that need much of one kind go where that kind is left, and no worker runs
 * out of one while it has plenty of another.
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

/** The one that the task fills best. */
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
