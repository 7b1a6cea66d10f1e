import type { Slot, TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import { taskIdText } from '../../base/task-id.ts';
import type { Utf8 } from '../../base/utf8.ts';
import {
  FIRE_REASONS,
  type FireReason,
  type ScheduleSettings,
  type ScheduleSpec,
} from '../../schedule/schedule-settings.ts';
import { isLive, liveWorks } from '../../state/schedules/live-works.ts';
import { inputOf, nameOf, settingsOf } from '../../state/schedules/read-schedule.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';

/**
 * Schedules as the API shows them. It is here, and not in the server, because a server in the
 * process of a test shows them, too.
 */

/** A schedule as its author wrote it, with times as texts. */
export interface ShownSettings extends Omit<ScheduleSettings, 'spec' | 'window' | 'task' | 'run'> {
  readonly spec: object;
  readonly task?: ScheduleSettings['task'] & { readonly input?: unknown };
  readonly run?: ScheduleSettings['run'] & { readonly input?: unknown };
  readonly window?: { readonly from?: string; readonly to?: string };
  readonly paused?: boolean;
}

/** A schedule as its author wrote it. Secrets are in it. */
export function shownSettings(state: ReadonlyState, slot: Slot, utf8: Utf8): ShownSettings {
  const settings = settingsOf(state, slot, utf8);
  const { spec, task, run, window, ...choices } = settings;
  const input = inputValue(inputOf(state, slot), utf8);
  const withInput = input === undefined ? {} : { input };
  return {
    spec: shownSpec(spec),
    ...(task === undefined ? {} : { task: { ...task, ...withInput } }),
    ...(run === undefined ? {} : { run: { ...run, ...withInput } }),
    ...(window === undefined ? {} : { window: shownWindow(window) }),
    ...choices,
    ...(state.schedules.table.paused[slot] === 1 ? { paused: true } : {}),
  } as ShownSettings;
}

function inputValue({ bytes, start, end }: PayloadRange, utf8: Utf8): unknown {
  return start === end ? undefined : JSON.parse(utf8.decode(bytes.subarray(start, end)));
}

function shownSpec(spec: ScheduleSpec): object {
  if ('at' in spec) return { at: timeText(spec.at) };
  if ('everyMs' in spec && spec.startAt !== undefined) {
    return { ...spec, startAt: timeText(spec.startAt) };
  }
  return spec;
}

function shownWindow({ from, to }: NonNullable<ScheduleSettings['window']>) {
  return {
    ...(from === undefined ? {} : { from: timeText(from) }),
    ...(to === undefined ? {} : { to: timeText(to) }),
  };
}

type ScheduleStateName = 'active' | 'paused' | 'completed';

export function scheduleStateOf({ schedules }: ReadonlyState, slot: Slot): ScheduleStateName {
  const { paused, nextAt, isBlocked, replicas } = schedules.table;
  if (paused[slot] === 1) return 'paused';
  const isOver = nextAt[slot] === 0 && isBlocked[slot] === 0 && replicas[slot] === 0;
  return isOver ? 'completed' : 'active';
}

type Made = { taskId?: string; runId?: string };

export interface ShownSchedule extends ShownSettings {
  readonly id: string;
  readonly state: ScheduleStateName;
  readonly revision: number;
  readonly paused: boolean;
  readonly createdAt: string;
  readonly changedAt: string;
  readonly nextFireAt: string | null;
  readonly lastFireAt: string | null;
  readonly fireCount: number;
  readonly skipCount: number;
  readonly lastSkip: { readonly scheduledAt: string; readonly reason: FireReason } | null;
  readonly running: readonly Made[];
  readonly backfill: {
    readonly nextTime: string | null;
    readonly until: string;
    readonly ratePerSec: number;
    readonly done: number;
  } | null;
}

/** A schedule as answers show it, without secrets. */
export function viewSchedule(state: ReadonlyState, slot: Slot, utf8: Utf8): ShownSchedule {
  const { table, backfills } = state.schedules;
  const { task, ...request } = shownSettings(state, slot, utf8);
  const name = nameOf(state, slot, utf8);
  const hasTime = table.nextAt[slot] !== 0 && table.paused[slot] === 0;
  const backfill = backfills.get(backfills.of(slot));
  return {
    id: name,
    state: scheduleStateOf(state, slot),
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

function withoutSecret(task: NonNullable<ShownSettings['task']>) {
  const { callback, ...rest } = task;
  if (callback === undefined) return rest;
  return { ...rest, callback: { url: callback.url, on: callback.on } };
}

/** What it made last, or its replicas, as far as they have not ended. */
export function runningOf(state: ReadonlyState, slot: Slot): Made[] {
  const { table, replicas } = state.schedules;
  const isPermanent = table.replicas[slot] > 0;
  const live = isPermanent
    ? replicas.of(slot).filter((each) => isLive(state, each))
    : liveWorks(state, slot);
  return live.map((each) => madeId(state, each));
}

/** The id of what a fire made. */
export function madeId(
  { partition }: ReadonlyState,
  { made, madeAt, isRun }: { made: number; madeAt: number; isRun: boolean },
): Made {
  const key = { submittedAt: madeAt, partition, number: made as TaskNumber };
  return isRun ? { runId: runIdText(key) } : { taskId: taskIdText(key) };
}

export function timeText(time: number): string {
  return new Date(time).toISOString();
}
