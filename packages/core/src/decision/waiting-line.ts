import { NO_SLOT, type Slot } from '../base/ids.ts';
import { rankOf } from '../state/ready-queue.ts';
import type { ReadonlyLane, ReadonlyQueue, ReadonlyState } from '../state/state.ts';
import type { Session } from '../workers/roster.ts';
import type { Decision } from './decision.ts';

/** A higher level goes first; within a level, the lower order goes first. */
export function goesBefore({ tasks }: ReadonlyState, one: Slot, other: Slot): boolean {
  return rankOfTask(tasks, one) < rankOfTask(tasks, other);
}

export function rankOfTask({ priority, order }: ReadonlyState['tasks'], slot: Slot): number {
  return rankOf(priority[slot], order[slot]);
}

/** The queue of a session's type; `undefined` while the session may not get a task from it. */
export function queueAt(
  { state }: Decision,
  session: Session,
  place: number,
): ReadonlyQueue | undefined {
  if (session.typeUse[place] >= session.typeLimits[place]) return undefined;
  let queue = session.queues[place];
  // A forgotten queue may have come back under the same key.
  if (queue === undefined || queue.isFree) {
    queue = state.queueOf(session.types[place]);
    session.queues[place] = queue;
  }
  return queue?.paused === true ? undefined : queue;
}

/** The first task of a lane that the session did not refuse a moment ago. */
export function headFor({ tasks }: ReadonlyState, session: Session, lane: ReadonlyLane): Slot {
  let slot = lane.head;
  if (session.refused.size === 0) return slot;
  while (slot !== NO_SLOT && session.refused.has(tasks.number[slot])) {
    slot = tasks.next[slot] as Slot;
  }
  return slot;
}

/** A session with a reservation gets only the reserved task and tasks that go before it. */
export function rankLimit({ tasks }: ReadonlyState, { reservedFor }: Session): number {
  return reservedFor === NO_SLOT ? Number.POSITIVE_INFINITY : rankOfTask(tasks, reservedFor);
}

/** Whether a session that handles its type may be given this task. */
export function mayTake(state: ReadonlyState, session: Session, slot: Slot): boolean {
  const { tasks, texts } = state;
  if (session.refused.size > 0 && session.refused.has(tasks.number[slot])) return false;
  if (session.reservedFor !== NO_SLOT && rankOfTask(tasks, slot) > rankLimit(state, session)) {
    return false;
  }
  return session.room.fits(texts.shape.at(tasks.shape[slot]));
}
