import type { ScheduleSettings } from '@sluice/core';
import { NaiveTimes } from './naive-times.ts';
import type { ScheduleStory, Work } from './schedule-story.ts';

interface Put {
  readonly settings: ScheduleSettings;
  readonly paused: boolean;
  readonly at: number;
}

interface ExpectedPut {
  readonly anchor: number;
  readonly isBlocked: boolean;
  readonly nextAt: number;
  /** The time at which its timer has to stay; undefined when it may be drawn anew. */
  readonly timerAt: number | undefined;
}

/** The times of a schedule that is created or replaced. Only another spec changes the next time. */
export function expectedPut(
  before: ScheduleStory | undefined,
  { settings, paused, at }: Put,
  isLive: (work: Work) => boolean,
): ExpectedPut {
  const { spec, window, jitterMs, overlap } = settings;
  const was = before?.settings;
  const isSameSpec = isSame(was?.spec, spec);
  const isKept =
    isSameSpec &&
    isSame([was?.window, was?.jitterMs], [window, jitterMs]) &&
    before?.paused === paused;
  const isDelay = 'everyMs' in spec && spec.mode === 'fixedDelay';
  const hasLive = before !== undefined && hasLiveWork(before, isLive);
  const isBlocked = hasLive && (isDelay || (!('permanent' in spec) && overlap === 'queue'));
  const first = 'everyMs' in spec ? (spec.startAt ?? at + spec.everyMs) : 0;
  const anchor = isSameSpec ? (before?.anchor ?? 0) : first;
  const common = { anchor, isBlocked };
  if (isKept) {
    // The timer of a permanent schedule is about its replicas.
    const timerAt = 'permanent' in spec ? undefined : timerOf(before);
    return { ...common, nextAt: before?.nextAt ?? 0, timerAt };
  }
  if (isBlocked && isDelay) return { ...common, nextAt: 0, timerAt: undefined };
  const times = new NaiveTimes(settings, anchor);
  if (!('at' in spec)) return { ...common, nextAt: times.next(at), timerAt: undefined };
  if (isSameSpec) {
    const kept = before?.nextAt ?? 0;
    const isInside = kept >= (window?.from ?? 0) && kept <= (window?.to ?? kept);
    return { ...common, nextAt: isInside ? kept : 0, timerAt: undefined };
  }
  // A single time that is over counts as now.
  const time = times.next(0);
  const end = window?.to ?? Number.POSITIVE_INFINITY;
  const nextAt = time === 0 ? 0 : Math.min(Math.max(time, at), end);
  return { ...common, nextAt, timerAt: undefined };
}

/** The timer follows what the schedule had to wait for. */
function timerOf(before: ScheduleStory | undefined): number {
  if (before === undefined) return 0;
  return Number.isFinite(before.dueAt) ? before.dueAt : before.timerAt;
}

function hasLiveWork({ last, beside }: ScheduleStory, isLive: (work: Work) => boolean): boolean {
  return beside.size > 0 || (last !== undefined && isLive(last));
}

/** The next time of a schedule that is paused or resumed. Times that passed meanwhile are over. */
export function expectedAfterPause(schedule: ScheduleStory, paused: boolean, at: number): number {
  const { nextAt, isBlocked, isDelay, kind } = schedule;
  if (paused || nextAt > at) return nextAt;
  if (isDelay) return isBlocked ? nextAt : at;
  if (nextAt === 0 || kind === 'once') return nextAt;
  return schedule.times.next(at);
}

/** What is wrong with the timer for the next time. Jitter may delay it, but not past the window. */
export function timerProblem(
  { settings, windowEnd, isDelay, kind }: ScheduleStory,
  { nextAt, timerAt }: { readonly nextAt: number; readonly timerAt: number },
  at: number,
): string | undefined {
  if (nextAt === 0 || kind === 'permanent') return undefined;
  const end = isDelay ? Number.POSITIVE_INFINITY : windowEnd;
  const latest = Math.min(nextAt + (settings.jitterMs ?? 0), end);
  // Jitter may be longer than the period. Then the time before this one has just fired, and this
  // one is not late.
  const isNow = timerAt === at && nextAt < at && settings.jitterMs !== undefined;
  if (isNow || (timerAt >= Math.min(nextAt, windowEnd) && timerAt <= latest)) return undefined;
  return `the timer for ${nextAt} is at ${timerAt}, with at most ${settings.jitterMs ?? 0} ms more`;
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
