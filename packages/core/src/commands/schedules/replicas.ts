import type { Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import type { ScheduleSettings } from '../../schedule/schedule-settings.ts';
import { delayFire, fillFired } from './fire-events.ts';
import { cancelMade, makeWork } from './make-work.ts';

/** Starts the replica that is due. */
export function startReplica(decision: Decision, slot: Slot, settings: ScheduleSettings): void {
  const { state, emit, now } = decision;
  const replicas = state.schedules.replicas.of(slot);
  const place = replicas.findIndex(({ made, startAt }) => made === 0 && startAt <= now);
  const work = makeWork(decision, { slot, settings, scheduledAt: now });
  if ('refused' in work) return delayFire(decision, slot, { reason: work.refused });
  const event = fillFired(decision, slot, { cause: 'replica', work, scheduledAt: now });
  event.replica = place + 1;
  emit(event);
}

/** Stops replicas beyond `count`, the last ones first. */
export function stopReplicas(decision: Decision, slot: Slot, count: number): void {
  const live = decision.state.schedules.replicas.of(slot).filter(({ made }) => made !== 0);
  for (const replica of live.slice(count).reverse()) cancelMade(decision, slot, replica);
}
