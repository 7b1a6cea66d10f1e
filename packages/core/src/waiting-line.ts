import type { Decision } from './decision.ts';
import { NO_SLOT, type Slot } from './ids.ts';
import type { Session } from './roster.ts';
import type { ReadonlyLane, ReadonlyQueue, ReadonlyState } from './state.ts';

/** A task of a higher level goes before one of a lower level, and in a level by its order. */
export function goesBefore({ tasks }: ReadonlyState, one: Slot, other: Slot): boolean {
  const lead = tasks.priority[one] - tasks.priority[other];
  return lead > 0 || (lead === 0 && tasks.order[one] < tasks.order[other]);
}

/** The queue of a session's type; `undefined` while the session may not be given one of it. */
export function queueAt(
  { state }: Decision,
  session: Session,
  place: number,
): ReadonlyQueue | undefined {
  if (session.typeUse[place] >= session.typeLimits[place]) return undefined;
  session.queues[place] ??= state.queueOf(session.types[place]);
  const queue = session.queues[place];
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
