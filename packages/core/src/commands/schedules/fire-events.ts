import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import type { EventOf } from '../../events/events.ts';
import {
  FIRE_CAUSES,
  FIRE_REASONS,
  type FireCause,
  type FireReason,
} from '../../schedule/schedule-settings.ts';
import type { Work } from './make-work.ts';

/** When a fire is tried again that found no room. */
const RETRY_MS = 1000;

interface Fired {
  readonly cause: FireCause;
  readonly work: Work;
  readonly scheduledAt: number;
}

/** The event of a fire, without a next time. The caller sets what else it knows, and emits it. */
export function fillFired(
  { state, events }: Decision,
  slot: Slot,
  { cause, work, scheduledAt }: Fired,
): EventOf<'schedule_fired'> {
  const event = events.scheduleFired;
  event.slot = slot;
  event.task = state.schedules.table.number[slot] as TaskNumber;
  event.cause = FIRE_CAUSES.indexOf(cause);
  event.reason = 'refused' in work ? FIRE_REASONS.indexOf(work.refused) : 0;
  event.scheduledAt = scheduledAt;
  event.made = 'made' in work ? work.made : 0;
  event.isRun = 'made' in work && work.isRun;
  event.nextAt = 0;
  event.timerAt = 0;
  event.delayMs = 0;
  event.missed = 0;
  event.replica = 0;
  event.backfill = 0;
  return event;
}

/** Tries again soon, because memory is full or a replica was refused. */
export function delayFire(
  { state, emit, events, now }: Decision,
  slot: Slot,
  { reason, backfill = 0 }: { readonly reason: FireReason; readonly backfill?: number },
): void {
  const event = events.scheduleDelayed;
  event.slot = slot;
  event.task = state.schedules.table.number[slot] as TaskNumber;
  event.reason = FIRE_REASONS.indexOf(reason);
  event.timerAt = now + RETRY_MS;
  event.backfill = backfill;
  emit(event);
}
