import {
  FIRE_REASONS,
  inputOf,
  isLive,
  nameOf,
  type PayloadRange,
  type ReadonlyState,
  runIdText,
  type ScheduleSettings,
  type ScheduleSpec,
  type Slot,
  settingsOf,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import type { ScheduleRequest, ScheduleView } from '@sluice/protocol';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';

/** A schedule as its author wrote it. Secrets are in it. */
export function requestOf(state: ReadonlyState, slot: Slot): ScheduleRequest {
  const settings = settingsOf(state, slot, UTF8);
  const { spec, task, run, window, ...choices } = settings;
  const input = inputValue(inputOf(state, slot));
  const withInput = input === undefined ? {} : { input };
  return {
    spec: shownSpec(spec),
    ...(task === undefined ? {} : { task: { ...task, ...withInput } }),
    ...(run === undefined ? {} : { run: { ...run, ...withInput } }),
    ...(window === undefined ? {} : { window: shownWindow(window) }),
    ...choices,
    ...(state.schedules.table.paused[slot] === 1 ? { paused: true } : {}),
  } as ScheduleRequest;
}

function inputValue({ bytes, start, end }: PayloadRange): unknown {
  return start === end ? undefined : JSON.parse(UTF8.decode(bytes.subarray(start, end)));
}

function shownSpec(spec: ScheduleSpec): ScheduleRequest['spec'] {
  if ('at' in spec) return { at: timeText(spec.at) };
  if ('everyMs' in spec && spec.startAt !== undefined) {
    return { ...spec, startAt: timeText(spec.startAt) };
  }
  return spec as ScheduleRequest['spec'];
}

function shownWindow({ from, to }: NonNullable<ScheduleSettings['window']>) {
  return {
    ...(from === undefined ? {} : { from: timeText(from) }),
    ...(to === undefined ? {} : { to: timeText(to) }),
  };
}

export type ScheduleStateName = 'active' | 'paused' | 'completed';

export function stateOf({ schedules }: ReadonlyState, slot: Slot): ScheduleStateName {
  const { paused, nextAt, isBlocked, replicas } = schedules.table;
  if (paused[slot] === 1) return 'paused';
  const isOver = nextAt[slot] === 0 && isBlocked[slot] === 0 && replicas[slot] === 0;
  return isOver ? 'completed' : 'active';
}

/** A schedule as answers show it, without secrets. */
export function scheduleView(state: ReadonlyState, slot: Slot): ScheduleView {
  const { table, backfills } = state.schedules;
  const { task, ...request } = requestOf(state, slot);
  const name = nameOf(state, slot, UTF8);
  const hasTime = table.nextAt[slot] !== 0 && table.paused[slot] === 0;
  const backfill = backfills.get(backfills.of(slot));
  return {
    id: name,
    state: stateOf(state, slot),
    revision: table.revision[slot],
    ...request,
    ...(task === undefined ? {} : { task: withoutSecret(task) }),
    paused: table.paused[slot] === 1,
    createdAt: timeText(table.createdAt[slot]),
    changedAt: timeText(table.changedAt[slot]),
    nextFireAt: hasTime ? timeText(table.nextAt[slot]) : null,
    lastFireAt: orNull(table.lastFiredAt[slot]),
    fireCount: table.fires[slot],
    skipCount: table.skips[slot],
    lastSkip:
      table.skips[slot] === 0
        ? null
        : {
            scheduledAt: timeText(table.skippedAt[slot]),
            reason: FIRE_REASONS[table.reason[slot]],
          },
    running: runningOf(state, slot),
    backfill:
      backfill === undefined
        ? null
        : {
            nextTime: orNull(backfill.nextTime),
            until: timeText(backfill.until),
            ratePerSec: backfill.ratePerSec,
            done: backfill.done,
          },
  };
}

function orNull(time: number): string | null {
  return time === 0 ? null : timeText(time);
}

function withoutSecret(task: NonNullable<ScheduleRequest['task']>) {
  const { callback, ...rest } = task;
  if (callback === undefined) return rest;
  return { ...rest, callback: { url: callback.url, on: callback.on } };
}

/** What it made last, or its replicas, as far as they have not ended. */
export function runningOf(state: ReadonlyState, slot: Slot): { taskId?: string; runId?: string }[] {
  const { table, replicas } = state.schedules;
  const { made, madeAt, madeRun } = table;
  const last = { made: made[slot], madeAt: madeAt[slot], isRun: madeRun[slot] === 1 };
  const all = table.replicas[slot] > 0 ? replicas.of(slot) : [last];
  return all.filter((each) => isLive(state, each)).map((each) => madeId(state, each));
}

/** The id of what a fire made. */
export function madeId(
  { partition }: ReadonlyState,
  { made, madeAt, isRun }: { made: number; madeAt: number; isRun: boolean },
): { taskId?: string; runId?: string } {
  const key = { submittedAt: madeAt, partition, number: made as TaskNumber };
  return isRun ? { runId: runIdText(key) } : { taskId: taskIdText(key) };
}
