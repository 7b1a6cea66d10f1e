import { CronCalendar } from '@sluice/calendar';
import {
  anchorOf,
  NO_TIME,
  nextTime,
  type ReadonlyState,
  type ScheduleSettings,
  type Slot,
  settingsOf,
} from '@sluice/core';
import { UTF8 } from '../base/utf8.ts';

const calendar = new CronCalendar();

interface Start {
  readonly after: number;
  readonly anchor: number;
}

/** Up to `count` times of a schedule, without jitter. */
export function timesOf(settings: ScheduleSettings, { after, anchor }: Start, count: number) {
  const times: number[] = [];
  let last = after;
  while (times.length < count) {
    const time = nextTime(settings, calendar, { after: last, anchor });
    if (time === NO_TIME) break;
    times.push(time);
    last = time;
  }
  return times;
}

/** The next times of a schedule that exists, or from `after` on. */
export function nextTimes(
  state: ReadonlyState,
  slot: Slot,
  { after, count }: { readonly after?: number | undefined; readonly count: number },
): number[] {
  const { nextAt, anchor } = state.schedules.table;
  const settings = settingsOf(state, slot, UTF8);
  const next = nextAt[slot];
  if (after === undefined && next === NO_TIME) return [];
  const start = after ?? next - 1;
  // The times of a fixed delay are those that it would have if its tasks took no time.
  const first = isDelay(settings) ? next : anchor[slot];
  return timesOf(settings, { after: start, anchor: first }, count);
}

function isDelay({ spec }: ScheduleSettings): boolean {
  return 'everyMs' in spec && spec.mode === 'fixedDelay';
}

/** The times that settings would have from `now` on. */
export function plannedTimes(settings: ScheduleSettings, now: number, count: number): number[] {
  const after = 'at' in settings.spec ? 0 : now;
  return timesOf(settings, { after, anchor: anchorOf(settings, now) }, count);
}
