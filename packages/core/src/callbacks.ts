import type {
  RecordDelivery,
  RecordDeliveryReply,
  RedeliverCallbacks,
  RedeliverCallbacksReply,
} from './callback-commands.ts';
import { audit } from './decide-access.ts';
import type { Decision } from './decision.ts';
import { isFinalFailure, NO_FAILURE } from './delivery-failures.ts';
import { parseDeliveryId } from './delivery-id.ts';
import type { Delivery } from './outbox.ts';
import { namespaceOf } from './queue-key.ts';
import { backoffMs, jitterOf, parseRetry, type ResolvedRetry } from './retry-policy.ts';

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

const REDELIVERED_PER_COMMAND = 1000;

/** More than a command can add. */
const DROPS_PER_COMMAND = 10_000;

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

export function decideRedeliver(
  decision: Decision,
  command: RedeliverCallbacks,
): RedeliverCallbacksReply {
  const { state } = decision;
  const { namespace, ids } = command;
  const isOwn = ({ queue }: Delivery) => namespaceOf(state.queues[queue].key) === namespace;
  const unknown: string[] = [];
  const meant = new Set<Delivery>();
  for (const id of ids ?? []) {
    const key = parseDeliveryId(id);
    const isHere = key?.partition === state.partition;
    const delivery = isHere ? state.outbox.get(key.number) : undefined;
    if (delivery !== undefined && isOwn(delivery)) meant.add(delivery);
    else unknown.push(id);
  }
  let more = false;
  for (const delivery of ids === undefined ? state.outbox.givenUp() : []) {
    if (!isOwn(delivery)) continue;
    more = meant.size === REDELIVERED_PER_COMMAND;
    if (more) break;
    meant.add(delivery);
  }
  if (meant.size > 0) audit(decision, command.by, { namespace, action: 'callbacks_redelivered' });
  for (const delivery of meant) redeliver(decision, delivery);
  return { redelivered: meant.size, unknown, more };
}

function redeliver({ emit, events, outputs }: Decision, delivery: Delivery): void {
  emit(Object.assign(events.callbackRedelivered, subjectOf(delivery)));
  outputs.deliveries.push(delivery.number);
}

/** What every event says of the delivery that it is about. */
function subjectOf({ number, task, state }: Delivery) {
  return { delivery: number, task, state };
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
