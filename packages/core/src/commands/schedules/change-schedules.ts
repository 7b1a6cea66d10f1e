import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { anchorOf, NO_TIME, nextTime } from '../../schedule/fire-times.ts';
import { hasPlaceholders } from '../../schedule/placeholders.ts';
import {
  replicasOf,
  type ScheduleSettings,
  WAITS_FOR_DELAY,
  waitOf,
} from '../../schedule/schedule-settings.ts';
import { exceededQuota } from '../../state/quotas.ts';
import { liveWorks } from '../../state/schedules/live-works.ts';
import { inputOf, settingsTextOf } from '../../state/schedules/read-schedule.ts';
import { waitsForEnd } from '../../state/schedules/schedules.ts';
import { endBackfill } from './backfill-schedules.ts';
import { jitterFor, timerFor } from './fire-schedules.ts';
import { stopReplicas } from './replicas.ts';
import { findSchedule } from './schedule-names.ts';

/** Creates, replaces or deletes one schedule. */
export interface ScheduleChange {
  readonly name: string;
  /** Absent to delete it. */
  readonly settings?: ScheduleSettings;
  readonly paused?: boolean;
  /** The change was made from this revision; absent to change any. */
  readonly ifRevision?: number;
}

/** Changes schedules in order. Each change is made whole or not at all. */
export interface ChangeSchedules extends Timed, Authored {
  readonly type: 'change_schedules';
  readonly changes: readonly ScheduleChange[];
  /** The inputs as JSON text, one behind the other; empty for null and for deletes. */
  readonly inputs: Uint8Array;
  readonly inputEnds: ArrayLike<number>;
}

export interface ScheduleOutcome {
  readonly rejection?:
    | 'schedule_not_found'
    | 'schedule_changed'
    | 'too_many_schedules'
    | 'too_many_bytes'
    | 'quota_exceeded'
    | 'never_fires';
  readonly change?: 'created' | 'replaced' | 'unchanged' | 'deleted';
  /** `NO_SLOT` when it was refused or deleted. */
  readonly slot: Slot;
}

export function decideChangeSchedules(
  decision: Decision,
  command: ChangeSchedules,
): { readonly outcomes: readonly ScheduleOutcome[] } {
  const { namespace, changes, by } = command;
  const outcomes = changes.map((_, index) => changeOne(decision, command, index));
  if (outcomes.some(({ change }) => change !== undefined && change !== 'unchanged')) {
    const isDelete = changes.every(({ settings }) => settings === undefined);
    const action = isDelete ? 'schedules_deleted' : 'schedules_changed';
    audit(decision, by, { namespace, action });
  }
  return { outcomes };
}

function changeOne(decision: Decision, command: ChangeSchedules, index: number): ScheduleOutcome {
  const { state } = decision;
  const { name, settings, ifRevision } = command.changes[index];
  const slot = findSchedule(decision, command.namespace, name);
  const revision = slot === NO_SLOT ? 0 : state.schedules.table.revision[slot];
  if (ifRevision !== undefined && ifRevision !== revision) {
    return { rejection: slot === NO_SLOT ? 'schedule_not_found' : 'schedule_changed', slot };
  }
  if (settings === undefined) return remove(decision, slot);
  const { inputs, inputEnds } = command;
  const input = inputs.subarray(index === 0 ? 0 : inputEnds[index - 1], inputEnds[index]);
  const put = { namespace: command.namespace, name, settings, input };
  return store(decision, slot, { ...put, paused: command.changes[index].paused ?? false });
}

/** Replicas of a deleted schedule are stopped. What its fires made goes on. */
function remove(decision: Decision, slot: Slot): ScheduleOutcome {
  const { state, emit, events } = decision;
  if (slot === NO_SLOT) return { rejection: 'schedule_not_found', slot };
  stopReplicas(decision, slot, 0);
  events.scheduleRemoved.slot = slot;
  events.scheduleRemoved.task = state.schedules.table.number[slot] as TaskNumber;
  emit(events.scheduleRemoved);
  return { change: 'deleted', slot: NO_SLOT };
}

interface Put {
  readonly namespace: string;
  readonly name: string;
  readonly settings: ScheduleSettings;
  readonly input: Uint8Array;
  readonly paused: boolean;
}

function store(decision: Decision, found: Slot, put: Put): ScheduleOutcome {
  const { state, emit, runWork } = decision;
  const { table } = state.schedules;
  const event = decision.events.schedulePut;
  const text = JSON.stringify(put.settings);
  const before = found === NO_SLOT ? '' : settingsTextOf(state, found, runWork.utf8);
  const isSameWork = found !== NO_SLOT && hasInput(decision, found, put.input);
  const wasPaused = found !== NO_SLOT && table.paused[found] === 1;
  if (text === before && isSameWork && wasPaused === put.paused) {
    return { change: 'unchanged', slot: found };
  }
  const bytes = put.input.length + text.length;
  const refusal = whyRefused(decision, found, { namespace: put.namespace, bytes });
  if (refusal !== undefined) return { rejection: refusal, slot: NO_SLOT };
  const earlier = before === '' ? undefined : (JSON.parse(before) as ScheduleSettings);
  const { spec, window, jitterMs } = put.settings;
  const isSameSpec = earlier !== undefined && isSame(earlier.spec, spec);
  const isSameRest = isSame([earlier?.window, earlier?.jitterMs], [window, jitterMs]);
  const slot = found === NO_SLOT ? table.nextFree() : found;
  fill(decision, slot, { put, text, isNew: found === NO_SLOT });
  const isKept = isSameSpec && isSameRest && wasPaused === put.paused;
  fillTimes(decision, slot, { put, isKept, isSameSpec });
  const { nextAt } = event;
  // A pattern without any time, such as 30 February, or a window that is over.
  const hadNoTime = found !== NO_SLOT && table.nextAt[found] === NO_TIME;
  const hasCompleted = isSameSpec && hadNoTime && table.isBlocked[found] === 0;
  const isPermanent = event.replicas > 0;
  if (nextAt === NO_TIME && !hasCompleted && !isPermanent && !waitsForDelay(decision, put)) {
    return { rejection: 'never_fires', slot: NO_SLOT };
  }
  emit(event);
  if (found === NO_SLOT) decision.outputs.createdSchedules.push(slot);
  const hasOtherWork = found !== NO_SLOT && !(isSameWork && isSameTarget(earlier, put.settings));
  if (hasOtherWork || !isSameSpec) endBackfill(decision, slot);
  stopReplicas(decision, slot, hasOtherWork || put.paused ? 0 : event.replicas);
  return { change: found === NO_SLOT ? 'created' : 'replaced', slot };
}

/** The next time of a fixed delay is not known before the end of the one that runs. */
function waitsForDelay({ events, now }: Decision, { settings: { window } }: Put): boolean {
  const { isBlocked, wait } = events.schedulePut;
  return isBlocked && wait === WAITS_FOR_DELAY && (window?.to ?? Infinity) > now;
}

function hasInput({ state }: Decision, slot: Slot, input: Uint8Array): boolean {
  const { bytes, start, end } = inputOf(state, slot);
  if (end - start !== input.length) return false;
  for (let i = 0; i < input.length; i++) if (bytes[start + i] !== input[i]) return false;
  return true;
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function isSameTarget(
  earlier: ScheduleSettings | undefined,
  { task, run }: ScheduleSettings,
): boolean {
  return earlier === undefined || isSame([earlier.task, earlier.run], [task, run]);
}

function whyRefused(
  decision: Decision,
  found: Slot,
  { namespace, bytes }: { readonly namespace: string; readonly bytes: number },
): ScheduleOutcome['rejection'] {
  const { state } = decision;
  const { limits, heldBytes, schedules } = state;
  const { table } = schedules;
  const isNew = found === NO_SLOT;
  if (isNew && table.nextFree() === NO_SLOT) return 'too_many_schedules';
  const payloadBytes = bytes - (isNew ? 0 : table.definitionLength[found]);
  if (payloadBytes > 0 && heldBytes + payloadBytes > limits.payloadBytesMax) {
    return 'too_many_bytes';
  }
  const added = { payloadBytes, schedules: isNew ? 1 : 0 };
  return exceededQuota(state, namespace, added) && 'quota_exceeded';
}

function fill(
  { state, events, runWork }: Decision,
  slot: Slot,
  { put, text, isNew }: { readonly put: Put; readonly text: string; readonly isNew: boolean },
): void {
  const { table } = state.schedules;
  const { namespace, name, settings, input, paused } = put;
  const [nameBytes, settingsBytes] = [runWork.utf8.encode(name), runWork.utf8.encode(text)];
  const length = nameBytes.length + settingsBytes.length + input.length;
  const bytes = new Uint8Array(length);
  bytes.set(nameBytes);
  bytes.set(settingsBytes, nameBytes.length);
  bytes.set(input, nameBytes.length + settingsBytes.length);
  const event = events.schedulePut;
  event.slot = slot;
  event.task = isNew ? state.nextTask : (table.number[slot] as TaskNumber);
  event.namespace = namespace;
  event.name = name;
  Object.assign(event.definition, { bytes, start: 0, end: length });
  event.nameBytes = nameBytes.length;
  event.settingsBytes = settingsBytes.length;
  event.revision = isNew ? 1 : table.revision[slot] + 1;
  event.wait = waitOf(settings);
  event.replicas = replicasOf(settings);
  event.paused = paused;
  event.hasPlaceholders = hasPlaceholders(runWork.utf8.decode(input));
}

/** Only a changed spec changes the next time. A schedule that is resumed goes on from now. */
function fillTimes(
  decision: Decision,
  slot: Slot,
  {
    put,
    isKept,
    isSameSpec,
  }: { readonly put: Put; readonly isKept: boolean; readonly isSameSpec: boolean },
): void {
  const { state, events, now } = decision;
  const { table } = state.schedules;
  const { settings } = put;
  const event = events.schedulePut;
  event.isBlocked = waitsForEnd(event.wait) && isKnown(decision, slot, event.task);
  event.delayMs = event.isBlocked ? table.delayMs[slot] : 0;
  event.anchor = isSameSpec ? table.anchor[slot] : anchorOf(settings, now);
  if (isKept) {
    event.nextAt = table.nextAt[slot];
    event.timerAt = table.timerAt[slot];
    return;
  }
  event.nextAt = timeFrom(decision, slot, { settings, anchor: event.anchor, isSameSpec });
  const jitterMs = jitterFor(settings, event.task, event.revision);
  event.timerAt = timerFor(settings, event.nextAt, jitterMs);
  // The next time of a fixed delay comes with the end of the one that runs.
  if (event.isBlocked && event.wait === WAITS_FOR_DELAY && 'everyMs' in settings.spec) {
    event.delayMs = settings.spec.everyMs + jitterMs;
    event.nextAt = NO_TIME;
    event.timerAt = 0;
  }
}

interface From {
  readonly settings: ScheduleSettings;
  readonly anchor: number;
  readonly isSameSpec: boolean;
}

/** The next time from now on. A single time that is over counts as now, and fires once. */
function timeFrom(
  { state, now, calendar }: Decision,
  slot: Slot,
  { settings, anchor, isSameSpec }: From,
): number {
  const { spec, window } = settings;
  if (!('at' in spec)) return nextTime(settings, calendar, { after: now, anchor });
  if (isSameSpec) return withinWindow(settings, state.schedules.table.nextAt[slot]);
  const time = nextTime(settings, calendar, { after: 0, anchor });
  return time === NO_TIME ? NO_TIME : Math.min(Math.max(time, now), window?.to ?? Infinity);
}

/** A single time that another window excludes does not count any more. */
function withinWindow({ window }: ScheduleSettings, time: number): number {
  const { from = 0, to = Infinity } = window ?? {};
  return time >= from && time <= to ? time : NO_TIME;
}

/** Whether the schedule exists and something that it made has not ended. */
function isKnown({ state }: Decision, slot: Slot, number: number): boolean {
  return state.schedules.table.number[slot] === number && liveWorks(state, slot).length > 0;
}
