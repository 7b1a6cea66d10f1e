import type { Slot, TaskNumber } from '../base/ids.ts';
import type { Decision } from './decision.ts';
import { sessionOf } from './lease-ends.ts';

/** Time that a worker has to stop, unless the caller set another. */
export const GRACE_MS_DEFAULT = 10_000;

/** Asks the worker of a task to stop. Its lease is revoked if it does not stop in time. */
export function askToStop(
  decision: Decision,
  slot: Slot,
  { reason, graceMs }: { readonly reason: number; readonly graceMs: number },
): void {
  const { state, emit, events, now } = decision;
  const event = events.attemptStopping;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.reason = reason;
  // After a server restart the worker may be unreachable: the grace starts when its session is due
  // back (L7).
  event.stopAt = Math.max(now, sessionOf(decision, slot)?.graceUntil ?? 0) + graceMs;
  emit(event);
  tellToStop(decision, slot, { reason, graceMs });
}

/**
 * Sends the stop request on the worker's stream. A disconnected worker gets it when it comes back.
 */
export function tellToStop(
  decision: Decision,
  slot: Slot,
  { reason, graceMs }: { readonly reason: number; readonly graceMs: number },
): void {
  const session = sessionOf(decision, slot);
  if (session === undefined || !session.connected) return;
  decision.outputs.cancels.push({ session: session.id, slot, reason, graceMs });
}
