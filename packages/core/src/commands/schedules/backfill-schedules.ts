import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { NO_TIME, nextTime } from '../../schedule/fire-times.ts';
import type { Backfill } from '../../state/schedules/backfills.ts';
import { settingsOf } from '../../state/schedules/read-schedule.ts';
import { delayFire, fillFired } from './fire-events.ts';
import { makeWork, type Work } from './make-work.ts';
import { findSchedule } from './schedule-names.ts';

/** Refusals after which a backfill waits, instead of losing a time. */
const WAITS: readonly string[] = ['no_room', 'quota_exceeded'];

/** Each of them is checked whenever time advances. */
const BACKFILLS_MAX = 100;

/** Fires at all times of a past range, at a limited rate. */
export interface StartBackfill extends Timed, Authored {
  readonly type: 'start_backfill';
  readonly name: string;
  /** Both ends count. */
  readonly from: number;
  readonly to: number;
  /** Rounded to 0.001; lower rates count as 0.001. */
  readonly ratePerSec: number;
}

export interface StartBackfillReply {
  readonly rejection?:
    | 'schedule_not_found'
    | 'schedule_is_permanent'
    | 'backfill_running'
    | 'too_many_backfills';
  /** 0 when the range has no time. */
  readonly backfill: number;
}

export function decideStartBackfill(
  decision: Decision,
  command: StartBackfill,
): StartBackfillReply {
  const { state, emit, events, calendar, runWork } = decision;
  const { namespace, name, from, by } = command;
  // Times to come are for the schedule itself.
  const to = Math.min(command.to, decision.now);
  const { table, backfills } = state.schedules;
  const slot = findSchedule(decision, namespace, name);
  if (slot === NO_SLOT) return { rejection: 'schedule_not_found', backfill: 0 };
  if (table.replicas[slot] > 0) return { rejection: 'schedule_is_permanent', backfill: 0 };
  if (backfills.of(slot) !== 0) return { rejection: 'backfill_running', backfill: 0 };
  if (backfills.size >= BACKFILLS_MAX) return { rejection: 'too_many_backfills', backfill: 0 };
  const settings = settingsOf(state, slot, runWork.utf8);
  const nextAt = nextTime(settings, calendar, { after: from - 1, anchor: table.anchor[slot] });
  if (nextAt === NO_TIME || nextAt > to) return { backfill: 0 };
  const event = events.backfillStarted;
  event.slot = slot;
  event.task = table.number[slot] as TaskNumber;
  event.backfill = backfills.next;
  event.nextTime = nextAt;
  event.until = to;
  event.ratePer1000Sec = Math.max(1, Math.round(command.ratePerSec * 1000));
  emit(event);
  audit(decision, by, { namespace, action: 'backfill_started' });
  return { backfill: event.backfill };
}

/** Stops the backfill of a schedule. */
export interface EndBackfill extends Timed, Authored {
  readonly type: 'end_backfill';
  readonly name: string;
}

export function decideEndBackfill(
  decision: Decision,
  { namespace, name, by }: EndBackfill,
): { readonly found: boolean } {
  const slot = findSchedule(decision, namespace, name);
  const backfill = slot === NO_SLOT ? 0 : decision.state.schedules.backfills.of(slot);
  if (backfill === 0) return { found: false };
  end(decision, slot, backfill);
  audit(decision, by, { namespace, action: 'backfill_ended' });
  return { found: true };
}

/** Fires up to `most` times of backfills; returns how many. */
export function backfillDue(decision: Decision, most: number): number {
  const { state, now } = decision;
  let fired = 0;
  for (const [number, backfill] of [...state.schedules.backfills.entries()]) {
    while (backfill.nextAt <= now && fired < most) {
      if (backfill.nextTime === NO_TIME) {
        end(decision, backfill.schedule, number);
        break;
      }
      fired += 1;
      step(decision, number, backfill);
    }
  }
  return fired;
}

function step(decision: Decision, number: number, backfill: Backfill): void {
  const { state, runWork } = decision;
  const { schedule: slot, nextTime: scheduledAt } = backfill;
  const settings = settingsOf(state, slot, runWork.utf8);
  const work = makeWork(decision, { slot, settings, scheduledAt });
  if ('refused' in work && WAITS.includes(work.refused)) {
    return delayFire(decision, slot, { reason: work.refused, backfill: number });
  }
  const anchor = state.schedules.table.anchor[slot];
  const following = nextTime(settings, decision.calendar, { after: scheduledAt, anchor });
  const nextAt = following > backfill.until ? NO_TIME : following;
  emitStep(decision, { slot, number, scheduledAt, nextAt, work });
}

interface Step {
  readonly slot: Slot;
  readonly number: number;
  readonly scheduledAt: number;
  readonly nextAt: number;
  readonly work: Work;
}

function emitStep(decision: Decision, step: Step): void {
  const { slot, number, scheduledAt, nextAt, work } = step;
  const event = fillFired(decision, slot, { cause: 'backfill', work, scheduledAt });
  event.nextAt = nextAt;
  event.backfill = number;
  decision.emit(event);
}

/** Ends the backfill of the schedule, if it has one. */
export function endBackfill(decision: Decision, slot: Slot): void {
  const backfill = decision.state.schedules.backfills.of(slot);
  if (backfill !== 0) end(decision, slot, backfill);
}

function end({ state, emit, events }: Decision, slot: Slot, backfill: number): void {
  events.backfillEnded.slot = slot;
  events.backfillEnded.task = state.schedules.table.number[slot] as TaskNumber;
  events.backfillEnded.backfill = backfill;
  emit(events.backfillEnded);
}
