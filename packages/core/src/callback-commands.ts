import type { Author } from './access-commands.ts';

/** What becomes of deliveries. */
export type CallbackCommand = RecordDelivery | RedeliverCallbacks;

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

/** Deliveries that were given up, or wait for their next try, are tried from now on. */
export interface RedeliverCallbacks {
  readonly type: 'redeliver_callbacks';
  readonly now: number;
  readonly namespace: string;
  /** Ids of deliveries; without them all that were given up. */
  readonly ids?: readonly string[];
  readonly by?: Author;
}

export interface RedeliverCallbacksReply {
  readonly redelivered: number;
  /** Ids that are not known, or whose delivery is over. */
  readonly unknown: readonly string[];
  /** One command takes so many at the most; the same again goes on. */
  readonly more: boolean;
}

export interface CallbackCommandReplies {
  readonly record_delivery: RecordDeliveryReply;
  readonly redeliver_callbacks: RedeliverCallbacksReply;
}
