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

/** When a fire that found no room is tried again: later the longer it has waited. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;

/** Replicas and backfills have no time from which on they wait. */
const OTHER_RETRY_MS = 5000;

interface Fired {
  readonly cause: FireCause;
  readonly work: Work;
  readonly scheduledAt: number;
}

/** The event of a fire, without a next time. The caller sets what else it knows, and emits it. */
export function fillFired(
  decision: Decision,
  slot: Slot,
  { cause, work, scheduledAt }: Fired,
): EventOf<'schedule_fired'> {
  const { state, events, outputs } = decision;
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
  const { cause: causeNumber, reason, isRun } = event;
  const lateMs = cause === 'time' ? latenessOf(decision, slot) : 0;
  outputs.fires.push({ cause: causeNumber, reason, isRun, lateMs });
  return event;
}

/** From the time, with its jitter, or from the end that it had to wait for. */
function latenessOf({ state, now }: Decision, slot: Slot): number {
  const { nextAt, timerAt, releasedAt } = state.schedules.table;
  return Math.max(0, now - Math.max(nextAt[slot], timerAt[slot], releasedAt[slot]));
}

/** Tries again soon, because memory is full or a replica was refused. */
export function delayFire(
  { state, emit, events, outputs, now }: Decision,
  slot: Slot,
  { reason, backfill = 0 }: { readonly reason: FireReason; readonly backfill?: number },
): void {
  const event = events.scheduleDelayed;
  event.slot = slot;
  event.task = state.schedules.table.number[slot] as TaskNumber;
  event.reason = FIRE_REASONS.indexOf(reason);
  const { nextAt, releasedAt, replicas } = state.schedules.table;
  const waitedMs = now - Math.max(nextAt[slot], releasedAt[slot]);
  const isTime = backfill === 0 && replicas[slot] === 0;
  const retryMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS, waitedMs));
  event.timerAt = now + (isTime ? retryMs : OTHER_RETRY_MS);
  outputs.delayedFires.push(slot);
  event.backfill = backfill;
  emit(event);
}
