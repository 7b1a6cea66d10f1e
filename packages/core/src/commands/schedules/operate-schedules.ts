import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { NO_TIME, nextTime } from '../../schedule/fire-times.ts';
import {
  type FireReason,
  type ScheduleSettings,
  WAITS_FOR_DELAY,
  waitOf,
} from '../../schedule/schedule-settings.ts';
import { settingsOf } from '../../state/schedules/read-schedule.ts';
import { emitFired, jitterFor, timerFor } from './fire-schedules.ts';
import { makeWork } from './make-work.ts';
import { stopReplicas } from './replicas.ts';
import { findSchedule } from './schedule-names.ts';

/** Pauses or resumes schedules. */
export interface PauseSchedules extends Timed, Authored {
  readonly type: 'pause_schedules';
  readonly names: readonly string[];
  readonly paused: boolean;
}

export interface PausedSchedule {
  readonly rejection?: 'schedule_not_found';
  readonly slot: Slot;
}

/**
 * A paused schedule does not fire, and its replicas are stopped. Times that pass meanwhile are not
 * made up for.
 */
export function decidePauseSchedules(
  decision: Decision,
  { namespace, names, paused, by }: PauseSchedules,
): { readonly outcomes: readonly PausedSchedule[] } {
  const { table } = decision.state.schedules;
  const outcomes = names.map((name): PausedSchedule => {
    const slot = findSchedule(decision, namespace, name);
    if (slot === NO_SLOT) return { rejection: 'schedule_not_found', slot };
    if (table.paused[slot] !== (paused ? 1 : 0)) setPaused(decision, slot, paused);
    return { slot };
  });
  if (outcomes.some(({ rejection }) => rejection === undefined)) {
    const action = paused ? 'schedules_paused' : 'schedules_resumed';
    audit(decision, by, { namespace, action });
  }
  return { outcomes };
}

function setPaused(decision: Decision, slot: Slot, paused: boolean): void {
  const { state, emit, events, runWork } = decision;
  const { table } = state.schedules;
  const settings = settingsOf(state, slot, runWork.utf8);
  const event = events.scheduleChanged;
  event.slot = slot;
  event.task = table.number[slot] as TaskNumber;
  event.revision = table.revision[slot] + 1;
  event.paused = paused;
  event.nextAt = paused ? table.nextAt[slot] : timeAfterPause(decision, slot, settings);
  const jitterMs = jitterFor(settings, event.task, event.revision);
  event.timerAt = timerFor(settings, event.nextAt, jitterMs);
  emit(event);
  if (paused) stopReplicas(decision, slot, 0);
}

/** A time that is not over yet stays. A fixed delay keeps waiting for the end of the last one. */
function timeAfterPause(
  { state, now, calendar }: Decision,
  slot: Slot,
  settings: ScheduleSettings,
): number {
  const { nextAt, anchor, isBlocked } = state.schedules.table;
  if (nextAt[slot] > now) return nextAt[slot];
  if (waitOf(settings) === WAITS_FOR_DELAY) return isBlocked[slot] === 1 ? nextAt[slot] : now;
  // One that has no time any more has completed; a single time is made up for.
  if (nextAt[slot] === NO_TIME || 'at' in settings.spec) return nextAt[slot];
  return nextTime(settings, calendar, { after: now, anchor: anchor[slot] });
}

/** Fires a schedule now, whatever its times, its window and its overlap say. */
export interface TriggerSchedule extends Timed, Authored {
  readonly type: 'trigger_schedule';
  readonly name: string;
}

export interface TriggerScheduleReply {
  readonly rejection?: 'schedule_not_found' | 'schedule_is_permanent';
  /** Why nothing was made. */
  readonly refused?: FireReason;
  readonly made: number;
  readonly isRun: boolean;
  readonly madeAt: number;
}

export function decideTriggerSchedule(
  decision: Decision,
  { namespace, name, by }: TriggerSchedule,
): TriggerScheduleReply {
  const { state, now, runWork } = decision;
  const nothing = { made: 0, isRun: false, madeAt: now };
  const slot = findSchedule(decision, namespace, name);
  if (slot === NO_SLOT) return { rejection: 'schedule_not_found', ...nothing };
  if (state.schedules.table.replicas[slot] > 0) {
    return { rejection: 'schedule_is_permanent', ...nothing };
  }
  const settings = settingsOf(state, slot, runWork.utf8);
  const work = makeWork(decision, { slot, settings, scheduledAt: now });
  if ('refused' in work) return { refused: work.refused, ...nothing };
  const due = { settings, scheduledAt: now, after: now, missed: 0 };
  emitFired(decision, slot, { ...due, cause: 'trigger', work });
  audit(decision, by, { namespace, action: 'schedule_triggered' });
  return { made: work.made, isRun: work.isRun, madeAt: now };
}
