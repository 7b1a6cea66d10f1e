import type { Slot, TaskNumber } from '../base/ids.ts';
import type { Decision } from './decision.ts';
import { sessionOf } from './lease-ends.ts';

/** What a worker has to stop, unless somebody said otherwise. */
export const GRACE_MS_DEFAULT = 10_000;

/** Asks the holder of a task to stop; its lease is revoked when it does not in time. */
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
  // One that nobody could reach, because the server had been away, has its grace after that (L7).
  event.stopAt = Math.max(now, sessionOf(decision, slot)?.graceUntil ?? 0) + graceMs;
  emit(event);
  tellToStop(decision, slot, { reason, graceMs });
}

/** Says so on the stream of the holder. One that is away hears it when it comes back. */
export function tellToStop(
  decision: Decision,
  slot: Slot,
  { reason, graceMs }: { readonly reason: number; readonly graceMs: number },
): void {
  const session = sessionOf(decision, slot);
  if (session === undefined || !session.connected) return;
  decision.outputs.cancels.push({ session: session.id, slot, reason, graceMs });
}
