import type { Slot, TaskNumber } from '../base/ids.ts';
import { totalDeadline } from '../state/deadlines.ts';
import type { ReadonlyState } from '../state/state.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { backoffMs, jitterOf } from '../task/retry-policy.ts';
import {
  CANCELLED,
  CANCELLED_REASON,
  EXPIRED,
  HANDED_BACK_REASON,
  isHeld,
  NO_ANSWER,
  NOT_ARRIVED_REASON,
  QUEUE_TIMEOUT_REASON,
  REFUSED_REASON,
  TOTAL_TIMEOUT_REASON,
} from '../task/task-state.ts';
import type { Session } from '../workers/roster.ts';
import type { Decision } from './decision.ts';

/** An end of a task other than by its worker's report of success or failure alone. */
export interface TaskEnd {
  readonly state: number;
  readonly reason: number;
  /** The report that ended the task, if any. */
  readonly answer?: number;
  /** When the attempt started, if only this report says so. */
  readonly startedAt?: number;
  /** Key of the request that ends the task from outside. */
  readonly key?: number;
  /** Replaces the task's result. */
  readonly payload?: PayloadRange;
}

const NOTHING: PayloadRange = { bytes: new Uint8Array(0), start: 0, end: 0 };

/** Ends a task from any state. */
export function endTask(decision: Decision, slot: Slot, end: TaskEnd): void {
  const event = decision.events.taskEnded;
  event.slot = slot;
  event.task = decision.state.tasks.number[slot] as TaskNumber;
  event.state = end.state;
  event.reason = end.reason;
  event.answer = end.answer ?? NO_ANSWER;
  event.startedAt = end.startedAt ?? 0;
  event.key = end.key ?? 0;
  event.hasPayload = end.payload !== undefined;
  pointAtRange(event.payload, end.payload ?? NOTHING);
  decision.activity.forget(slot);
  decision.emit(event);
  decision.outputs.endedSlots.push(slot);
}

/** The deadline of a task passed while it was not leased. */
export function expireTask(decision: Decision, slot: Slot): void {
  const isTotal = totalDeadline(decision.state, slot) <= decision.now;
  const reason = isTotal ? TOTAL_TIMEOUT_REASON : QUEUE_TIMEOUT_REASON;
  endTask(decision, slot, { state: EXPIRED, reason });
}

/** An attempt took too long. Another one follows, unless this was the last. */
export function timeOutAttempt(
  decision: Decision,
  slot: Slot,
  end: {
    readonly reason: number;
    readonly retryAt: number;
    readonly answer?: number;
    readonly startedAt?: number;
    readonly error?: PayloadRange;
  },
): void {
  const event = decision.events.attemptTimedOut;
  event.slot = slot;
  event.task = decision.state.tasks.number[slot] as TaskNumber;
  event.reason = end.reason;
  event.retryAt = end.retryAt;
  event.startedAt = end.startedAt ?? 0;
  event.answer = end.answer ?? NO_ANSWER;
  pointAtRange(event.error, end.error ?? NOTHING);
  decision.activity.forget(slot);
  decision.emit(event);
  if (end.retryAt === 0) decision.outputs.endedSlots.push(slot);
}

/** A lease ended without an answer: its worker is gone, refused the task, or never received it. */
export function loseLease(decision: Decision, slot: Slot, reason: number): void {
  const { state } = decision;
  decision.activity.forget(slot);
  if (state.tasks.stop[slot] === CANCELLED_REASON) {
    endTask(decision, slot, { state: CANCELLED, reason: CANCELLED_REASON });
  } else if (!isSpentBy(reason) || hasAttemptsLeft(state, slot)) {
    returnTask(decision, slot, reason);
  } else {
    exhaust(decision, slot, reason);
  }
}

export function hasAttemptsLeft({ tasks, texts }: ReadonlyState, slot: Slot): boolean {
  return tasks.attempt[slot] < texts.retry.at(tasks.retry[slot]).maxAttempts;
}

/** When the next attempt is due by the task's retry policy; 0 when there is none. */
export function nextAttemptAt(
  { state, now }: Decision,
  slot: Slot,
  { seed, place }: { readonly seed: number; readonly place: number },
): number {
  if (!hasAttemptsLeft(state, slot)) return 0;
  const policy = state.texts.retry.at(state.tasks.retry[slot]);
  return now + backoffMs(policy, state.tasks.attempt[slot], jitterOf(seed, place));
}

/** The session that holds the task, if the task is leased and the roster knows the session. */
export function sessionOf({ state, roster }: Decision, slot: Slot): Session | undefined {
  if (!isHeld(state.tasks.state[slot])) return undefined;
  return roster.find(state.holders.at(state.tasks.holderOf(slot)).session);
}

/**
 * Reasons for which a lease ends without spending an attempt: the worker is not at fault.
 */
const UNSPENT: readonly number[] = [NOT_ARRIVED_REASON, REFUSED_REASON, HANDED_BACK_REASON];

function isSpentBy(reason: number): boolean {
  return !UNSPENT.includes(reason);
}

function returnTask(decision: Decision, slot: Slot, reason: number): void {
  const { state, emit, events } = decision;
  const event = events.attemptReturned;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.reason = reason;
  event.spent = isSpentBy(reason);
  event.retryAt = event.spent ? afterLoss(decision, slot) : 0;
  emit(event);
}

/**
 * A task that ends its worker must not end the next ones without a pause. The jitter comes from the
 * number of the task, so that the tasks of one lost worker do not all run at the same moment.
 */
function afterLoss({ state, now }: Decision, slot: Slot): number {
  const policy = state.texts.retry.at(state.tasks.retry[slot]);
  const seed = state.tasks.number[slot] >>> 0;
  const delayMs = backoffMs(policy, state.tasks.attempt[slot], jitterOf(seed, 0));
  return delayMs === 0 ? 0 : now + delayMs;
}

function exhaust({ state, emit, events, outputs }: Decision, slot: Slot, reason: number): void {
  const event = events.attemptsExhausted;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.reason = reason;
  emit(event);
  outputs.endedSlots.push(slot);
}

function pointAtRange(range: PayloadRange, to: PayloadRange): void {
  range.bytes = to.bytes;
  range.start = to.start;
  range.end = to.end;
}
