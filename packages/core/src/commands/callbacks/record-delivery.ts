import type { Decision } from '../../decision/decision.ts';
import type { Delivery } from '../../state/outbox.ts';
import { isFinalFailure, NO_FAILURE } from '../../task/delivery-failures.ts';
import { backoffMs, jitterOf, parseRetry, type ResolvedRetry } from '../../task/retry-policy.ts';
import { subjectOf } from './delivery-subject.ts';

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;

/** 5 s, 10 s, 20 s and so on, up to an hour, and up to a quarter more. */
const POLICY: ResolvedRetry = {
  ...parseRetry(''),
  maxAttempts: Number.POSITIVE_INFINITY,
  delayMs: 5 * SECOND_MS,
  maxDelayMs: HOUR_MS,
};

/** A receiver that failed for so long is given up. */
const GIVEN_UP_AFTER_MS = 24 * HOUR_MS;

/** More than a command can add. */
const DROPS_PER_COMMAND = 10_000;

/** One try to deliver is over. */
export interface RecordDelivery {
  readonly type: 'record_delivery';
  readonly now: number;
  /** The number of the delivery. */
  readonly delivery: number;
  /** What went wrong, as the number of a failure; 0 when nothing did. */
  readonly failure: number;
  /** Of the answer; 0 without one. */
  readonly status: number;
  readonly durationMs: number;
  /** How long the receiver wants to be left alone, if it said so. */
  readonly retryAfterMs?: number;
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
}

export interface RecordDeliveryReply {
  /** `unknown` when nobody waits for it any more. */
  readonly outcome: 'delivered' | 'failed' | 'given_up' | 'unknown';
  /** When it is tried next; 0 when it is not. */
  readonly nextAt: number;
}

export function decideRecordDelivery(
  decision: Decision,
  command: RecordDelivery,
): RecordDeliveryReply {
  const { state, emit, events } = decision;
  const delivery = state.outbox.get(command.delivery);
  if (delivery === undefined || delivery.givenUpAt !== 0) return { outcome: 'unknown', nextAt: 0 };
  const { failure, status, durationMs } = command;
  const tried = { ...subjectOf(delivery), status, durationMs };
  if (failure === NO_FAILURE) {
    emit(Object.assign(events.callbackDelivered, tried));
    return { outcome: 'delivered', nextAt: 0 };
  }
  const nextAt = nextTryAt(decision.now, delivery, command);
  emit(Object.assign(events.callbackFailed, tried, { failure, nextAt }));
  return { outcome: nextAt === 0 ? 'given_up' : 'failed', nextAt };
}

/** 0 when there is no other. The last one is at the end of the time that there is, whole. */
function nextTryAt(now: number, delivery: Delivery, command: RecordDelivery): number {
  const { firstFailedAt, tries } = delivery;
  const endAt = (firstFailedAt === 0 ? now : firstFailedAt) + GIVEN_UP_AFTER_MS;
  if (isFinalFailure(command.failure) || now >= endAt) return 0;
  const { retryAfterMs, seed } = command;
  const delayMs =
    retryAfterMs === undefined
      ? backoffMs(POLICY, tries + 1, jitterOf(seed, delivery.number))
      : Math.min(Math.max(retryAfterMs, SECOND_MS), HOUR_MS);
  return Math.min(now + delayMs, endAt);
}

/** Those that were given up make way for those that are to be delivered (L9), oldest first. */
export function dropUndelivered({ state, emit, events }: Decision): void {
  const { outbox, limits } = state;
  const excess = outbox.pendingCount + outbox.givenUpCount - limits.callbacksMax;
  const count = Math.min(excess, outbox.givenUpCount, DROPS_PER_COMMAND);
  if (count <= 0) return;
  const oldest = outbox.givenUp()[Symbol.iterator]();
  for (let dropped = 0; dropped < count; dropped++) {
    const delivery: Delivery = oldest.next().value;
    emit(Object.assign(events.callbackDropped, subjectOf(delivery)));
  }
}
