import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import {
  FIRE_CAUSES,
  FIRE_REASONS,
  type ScheduleSettings,
} from '../../schedule/schedule-settings.ts';
import { cancelMade, makeWork } from './make-work.ts';

/** When a replica that was refused is tried again. */
const RETRY_MS = 1000;

/** Starts the replica that is due. */
export function startReplica(decision: Decision, slot: Slot, settings: ScheduleSettings): void {
  const { state, emit, events, now } = decision;
  const { table, replicas } = state.schedules;
  const place = replicas.of(slot).findIndex(({ made, startAt }) => made === 0 && startAt <= now);
  const work = makeWork(decision, { slot, settings, scheduledAt: now });
  if ('refused' in work) {
    const event = events.scheduleDelayed;
    event.slot = slot;
    event.task = table.number[slot] as TaskNumber;
    event.reason = FIRE_REASONS.indexOf(work.refused);
    event.timerAt = now + RETRY_MS;
    event.backfill = 0;
    return emit(event);
  }
  const event = events.scheduleFired;
  event.slot = slot;
  event.task = table.number[slot] as TaskNumber;
  event.cause = FIRE_CAUSES.indexOf('replica');
  event.reason = 0;
  event.scheduledAt = now;
  event.made = work.made;
  event.isRun = work.isRun;
  event.nextAt = 0;
  event.timerAt = 0;
  event.delayMs = 0;
  event.missed = 0;
  event.replica = place + 1;
  event.backfill = 0;
  emit(event);
}

/** Stops replicas beyond `count`, the last ones first. */
export function stopReplicas(decision: Decision, slot: Slot, count: number): void {
  const live = decision.state.schedules.replicas.of(slot).filter(({ made }) => made !== 0);
  for (const replica of live.slice(count).reverse()) cancelMade(decision, slot, replica);
}
