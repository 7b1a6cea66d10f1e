import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { latestTime, NO_TIME, nextTime, timesBefore } from '../../schedule/fire-times.ts';
import {
  type FireCause,
  type FireReason,
  MISFIRE_AFTER_MS,
  MISFIRE_MAX_DEFAULT,
  type ScheduleSettings,
  WAITS_FOR_DELAY,
  waitOf,
} from '../../schedule/schedule-settings.ts';
import { liveWorks } from '../../state/schedules/live-works.ts';
import { settingsOf } from '../../state/schedules/read-schedule.ts';
import { jitterOf } from '../../task/retry-policy.ts';
import { delayFire, fillFired } from './fire-events.ts';
import { cancelMade, makeWork, type Work } from './make-work.ts';
import { startReplica } from './replicas.ts';

/** Bytes of a definition that count as much as another fire. */
const BYTES_PER_UNIT = 8192;

/** Fires schedules whose time has come, up to `most` units of work; returns the units. */
export function fireSchedules(decision: Decision, most: number): number {
  const { state, now } = decision;
  let fired = 0;
  while (fired < most) {
    const slot = state.schedules.timers.firstDue(now);
    if (slot === NO_SLOT) break;
    fired += 1 + Math.floor(state.schedules.table.definitionLength[slot] / BYTES_PER_UNIT);
    fire(decision, slot);
  }
  return Math.min(fired, most);
}

function fire(decision: Decision, slot: Slot): void {
  const { state } = decision;
  const { table } = state.schedules;
  const settings = settingsOf(state, slot, decision.runWork.utf8);
  if (table.replicas[slot] > 0) return startReplica(decision, slot, settings);
  const time = table.nextAt[slot];
  // Of a fixed delay, an end may lead to a time outside the window.
  const { from = 0, to = Number.POSITIVE_INFINITY } = settings.window ?? {};
  if (time > to) return moveTo(decision, slot, NO_TIME);
  if (time < from) return moveTo(decision, slot, from);
  if (isMissed(decision, slot, settings)) return fireMissed(decision, slot, settings);
  fireAt(decision, slot, { settings, scheduledAt: time, after: time, missed: 0 });
}

/** Another next time, without a fire. */
function moveTo({ state, emit, events }: Decision, slot: Slot, time: number): void {
  const { table } = state.schedules;
  const event = events.scheduleChanged;
  event.slot = slot;
  event.task = table.number[slot] as TaskNumber;
  event.revision = table.revision[slot];
  event.paused = false;
  event.nextAt = time;
  event.timerAt = time;
  emit(event);
}

/** Times that had to wait for the end of the last one are late only from that end on. */
function isMissed({ state, now }: Decision, slot: Slot, settings: ScheduleSettings): boolean {
  const { nextAt, releasedAt, timerAt, missed } = state.schedules.table;
  // What waits for room is late: later timers than by jitter are tries.
  const waitsUntil = missed[slot] > 0 ? nextAt[slot] : timerAt[slot];
  const jittered = Math.min(waitsUntil, nextAt[slot] + (settings.jitterMs ?? 0));
  return now - Math.max(jittered, releasedAt[slot]) > MISFIRE_AFTER_MS;
}

/** The times up to now were missed: what happens is the schedule's choice. */
function fireMissed(decision: Decision, slot: Slot, settings: ScheduleSettings): void {
  const { state, now, calendar } = decision;
  const { table } = state.schedules;
  const time = table.nextAt[slot];
  const policy = settings.misfire ?? 'once';
  if (policy === 'all' && table.missed[slot] < (settings.misfireMax ?? MISFIRE_MAX_DEFAULT)) {
    const missed = table.missed[slot] + 1;
    return fireAt(decision, slot, { settings, scheduledAt: time, after: time, missed });
  }
  const latest = latestTime(settings, calendar, { since: time, until: now });
  const passed = timesBefore(settings, calendar, { since: time, until: latest });
  const due = { settings, scheduledAt: latest, after: now, missed: 0, passed };
  if (policy === 'once') return fireAt(decision, slot, due);
  skip(decision, slot, { ...due, reason: 'misfire' });
}

function noteMissed({ state, emit, events }: Decision, slot: Slot, count: number): void {
  if (count === 0) return;
  events.timesMissed.slot = slot;
  events.timesMissed.task = state.schedules.table.number[slot] as TaskNumber;
  events.timesMissed.count = count;
  emit(events.timesMissed);
}

interface Due {
  readonly settings: ScheduleSettings;
  readonly scheduledAt: number;
  /** The next time comes after this one. */
  readonly after: number;
  readonly missed: number;
  /** Number of missed times before this one. */
  readonly passed?: number;
}

function fireAt(decision: Decision, slot: Slot, due: Due): void {
  const { state } = decision;
  const { settings, scheduledAt } = due;
  const { overlap = 'allow' } = settings;
  const before = overlap === 'allow' ? [] : liveWorks(state, slot);
  if (overlap === 'skip' && before.length > 0) {
    return skip(decision, slot, { ...due, reason: 'overlap' });
  }
  const work = makeWork(decision, { slot, settings, scheduledAt });
  if ('made' in work) {
    if (overlap === 'cancelPrevious') for (const work of before) cancelMade(decision, slot, work);
    return emitFired(decision, slot, { ...due, cause: 'time', work });
  }
  if (work.refused === 'no_room') return delayFire(decision, slot, { reason: 'no_room' });
  skip(decision, slot, { ...due, reason: work.refused });
}

function skip(decision: Decision, slot: Slot, due: Due & { readonly reason: FireReason }): void {
  const work = { refused: due.reason };
  emitFired(decision, slot, { ...due, cause: 'time', work });
}

/** A fire by the clock or by a person. */
export function emitFired(
  decision: Decision,
  slot: Slot,
  fired: Due & { readonly cause: FireCause; readonly work: Work },
): void {
  const { settings, after, missed, work, passed = 0 } = fired;
  noteMissed(decision, slot, passed);
  const event = fillFired(decision, slot, fired);
  event.missed = missed;
  fillNext(decision, slot, { settings, after, hasMade: 'made' in work });
  // Jitter may be longer than the period. What it delays is not late.
  const isJittered = settings.jitterMs !== undefined && event.nextAt !== NO_TIME && missed === 0;
  if (isJittered) event.timerAt = Math.max(event.timerAt, decision.now);
  decision.emit(event);
}

/** The next time, unless it depends on the end of what was made. */
function fillNext(
  { state, events, calendar, now }: Decision,
  slot: Slot,
  next: { readonly settings: ScheduleSettings; readonly after: number; readonly hasMade: boolean },
): void {
  const { settings, after, hasMade } = next;
  const { anchor, number, fires } = state.schedules.table;
  const event = events.scheduleFired;
  const jitterMs = jitterFor(settings, number[slot], fires[slot]);
  if ('everyMs' in settings.spec && waitOf(settings) === WAITS_FOR_DELAY) {
    event.delayMs = settings.spec.everyMs + jitterMs;
    event.nextAt = hasMade ? NO_TIME : now + event.delayMs;
    event.timerAt = event.nextAt;
    return;
  }
  event.nextAt = nextTime(settings, calendar, { after, anchor: anchor[slot] });
  event.timerAt = timerFor(settings, event.nextAt, jitterMs);
}

/** Jitter leads to no fire after the window. */
export function timerFor({ window }: ScheduleSettings, nextAt: number, jitterMs: number): number {
  if (nextAt === NO_TIME) return 0;
  return Math.min(nextAt + jitterMs, window?.to ?? Number.POSITIVE_INFINITY);
}

/** Spreads schedules of the same time. Logged with the fire. */
export function jitterFor(
  { jitterMs = 0 }: ScheduleSettings,
  number: number,
  fires: number,
): number {
  return Math.floor(jitterOf(number >>> 0, fires) * (jitterMs + 1));
}
