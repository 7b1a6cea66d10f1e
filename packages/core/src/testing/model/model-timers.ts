import type { Report } from '../../commands/attempts/report-attempts.ts';
import type { ModelPlaces } from './model-places.ts';
import { attemptsOf, delayAfter, isOver, type ModelTask } from './model-task.ts';

const NEVER = Number.POSITIVE_INFINITY;
const GRACE_MS = 10_000;

/** How long the session of a task has time to come back. */
type GraceOf = (task: ModelTask) => number;

export interface ModelRedrive {
  readonly number: number;
  readonly namespace: string;
  readonly isMeant: (type: string) => boolean;
  readonly ratePerSec: number;
  readonly startedAt: number;
  nextAt: number;
}

/** Everything that is due, in the order of time. */
export function passTime(places: ModelPlaces, now: number, graceOf: GraceOf): void {
  for (;;) {
    const due = places.tasks
      .filter((task) => deadlineOf(places, task) <= now)
      .toSorted((a, b) => deadlineOf(places, a) - deadlineOf(places, b) || a.number - b.number);
    if (due.length === 0) break;
    fire(places, due[0], now, graceOf(due[0]));
  }
  for (const task of places.held) {
    if ((task.silentAt ?? NEVER) > now) continue;
    task.silentAt = undefined;
    const at = Math.max(now, graceOf(task)) + GRACE_MS;
    task.stop ??= { reason: 'heartbeat_timeout', at };
  }
}

/** Whether the total timeout ends before the deadline of the stop request. */
function isTotalFirst(task: ModelTask): boolean {
  return totalAt(task) < (task.stop?.at ?? NEVER);
}

function totalAt(task: ModelTask): number {
  return task.liveSince + (task.timeouts.totalMs ?? NEVER);
}

/** Whether the deadline of a queued task has passed. */
export function isOverdue({ timeouts, joinedAt, liveSince }: ModelTask, now: number): boolean {
  const { queueMs = NEVER, totalMs = NEVER } = timeouts;
  return now >= joinedAt + queueMs || now >= liveSince + totalMs;
}

function deadlineOf(places: ModelPlaces, task: ModelTask): number {
  if (isOver(task)) return NEVER;
  if (task.stop?.reason === 'cancelled') return task.stop.at;
  return Math.min(ownDeadline(places, task), totalAt(task));
}

function ownDeadline(places: ModelPlaces, task: ModelTask): number {
  const { queueMs = NEVER, runMs = NEVER } = task.timeouts;
  if (task.state === 'waiting') return task.dueAt;
  if (task.state === 'paused') return NEVER;
  if (places.waiting.includes(task)) return task.joinedAt + queueMs;
  return task.stop?.at ?? task.leasedAt + runMs;
}

function fire(places: ModelPlaces, task: ModelTask, now: number, graceUntil: number): void {
  const isHeld = task.state === 'leased' || task.state === 'running';
  const isTotal = totalAt(task) <= (isHeld ? ownDeadline(places, task) : now);
  const { stop } = task;
  if (
    stop !== undefined &&
    now < graceUntil &&
    (stop.reason === 'cancelled' || !isTotalFirst(task))
  ) {
    task.stop = { ...stop, at: graceUntil + GRACE_MS };
  } else if (task.stop?.reason === 'cancelled') {
    places.finish(task, 'cancelled', 'cancelled', now);
  } else if (isHeld) {
    if (isTotal) places.finish(task, 'timed_out', 'total_timeout', now);
    else if (task.stop !== undefined) timeOut(places, task, task.stop.reason, now);
    else if (!places.held.includes(task)) timeOut(places, task, 'run_timeout', now);
    else task.stop = { reason: 'run_timeout', at: Math.max(now, graceUntil) + GRACE_MS };
  } else if (task.state === 'waiting' && !isTotal) {
    places.queue(task, 'due', { now });
  } else {
    expire(places, task, now);
  }
}

/** The deadline passed while the task was not leased. */
export function expire(places: ModelPlaces, task: ModelTask, now: number): void {
  const reason = totalAt(task) <= now ? 'total_timeout' : 'queue_timeout';
  places.finish(task, 'expired', reason, now);
}

/** A worker's report of a failure. */
type Failure = Pick<Report, 'retryable' | 'retryAfterMs'>;

/** The attempt took too long: another one follows, unless it was the last. */
export function timeOut(
  places: ModelPlaces,
  task: ModelTask,
  reason: string,
  now: number,
  report: Failure = {},
): void {
  task.result = '';
  if (isLastAttempt(task, report)) places.finish(task, 'timed_out', reason, now);
  else backOff(places, task, reason, now, report);
}

export function isLastAttempt(task: ModelTask, report: Failure): boolean {
  return report.retryable === false || task.attempt >= attemptsOf(task);
}

/** Another attempt follows, at the time that the worker asked for, or else the policy's. */
export function backOff(
  places: ModelPlaces,
  task: ModelTask,
  reason: string,
  now: number,
  { retryAfterMs }: Failure,
): void {
  const { delayMs, jitterMs } = delayAfter(task);
  if (retryAfterMs === undefined) places.sleep(task, reason, now + delayMs, jitterMs);
  else places.sleep(task, reason, now + retryAfterMs);
}

/** Retries dead letters that are due, and removes redrives that are finished. */
export function redrive(places: ModelPlaces, redrives: ModelRedrive[], now: number): void {
  for (const one of [...redrives]) {
    while (one.nextAt <= now) {
      const task = places.oldestDead(one.isMeant);
      if (task === undefined || task.endedAt > one.startedAt) {
        redrives.splice(redrives.indexOf(one), 1);
        break;
      }
      runAgain(places, task, 'redriven', now);
      one.nextAt = Math.max(one.nextAt, now - 50) + 1000 / one.ratePerSec;
    }
  }
}

export function runAgain(places: ModelPlaces, task: ModelTask, reason: string, now: number): void {
  places.queue(task, reason, { now });
  Object.assign(task, { attempt: 0, result: '', liveSince: now, isDiscarded: false });
}
