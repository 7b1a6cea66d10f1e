import { DELIVERY_FAILURES, deliveryIdText, type Event } from '@sluice/core';
import { callbackType } from '../../base/callback-type.ts';
import { timeText } from '../../base/time-text.ts';

type DeliveryEvent = Extract<Event, { type: `callback_${string}` }>;

/** Outcomes of a delivery, as the API names them. */
const OUTCOMES = ['delivered', 'failed', 'given_up', 'redelivered', 'dropped'] as const;

/**
 * An outcome of a delivery, stored as a list like changes are. Outcome, state and failure are
 * numbers.
 */
export type DeliveryRecord = readonly [
  delivery: number,
  state: number,
  at: number,
  outcome: number,
  status: number,
  failure: number,
  durationMs: number,
  nextAt: number,
];

/** Maximum number kept for a task whose receiver is down for long. */
const DELIVERIES_KEPT = 100;

const PARTITION = 0;

export function noteDelivery(
  { deliveries }: { readonly deliveries: DeliveryRecord[] },
  event: DeliveryEvent,
  at: number,
): void {
  const outcome = OUTCOMES.indexOf(outcomeOf(event));
  const { status = 0, durationMs = 0 } = event as { status?: number; durationMs?: number };
  const { failure = 0, nextAt = 0 } = event as { failure?: number; nextAt?: number };
  const { delivery, state } = event;
  deliveries.push([delivery, state, at, outcome, status, failure, durationMs, nextAt]);
  if (deliveries.length > DELIVERIES_KEPT) deliveries.shift();
}

function outcomeOf(event: DeliveryEvent): (typeof OUTCOMES)[number] {
  const isOver = event.type === 'callback_failed' && event.nextAt === 0;
  return isOver ? 'given_up' : OUTCOME_OF_EVENT[event.type];
}

const OUTCOME_OF_EVENT = {
  callback_delivered: 'delivered',
  callback_failed: 'failed',
  callback_redelivered: 'redelivered',
  callback_dropped: 'dropped',
} as const satisfies Record<DeliveryEvent['type'], (typeof OUTCOMES)[number]>;

/** Everything that happened to a task's callbacks, as JSON text, oldest first. */
export function callbacksJson({ deliveries }: { readonly deliveries: DeliveryRecord[] }): string {
  const items = deliveries.map(
    ([number, state, at, outcome, status, failure, durationMs, nextAt]) => ({
      id: deliveryIdText({ partition: PARTITION, number }),
      type: callbackType(state),
      at: timeText(at),
      outcome: OUTCOMES[outcome],
      status: status === 0 ? null : status,
      failure: DELIVERY_FAILURES[failure] || null,
      durationMs,
      nextAt: nextAt === 0 ? null : timeText(nextAt),
    }),
  );
  return JSON.stringify({ items });
}
