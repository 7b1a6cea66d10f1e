import type { Callback } from '../../task/task-labels.ts';
import type { ModelTask } from './model-task.ts';

const HOUR_MS = 3_600_000;

/** A delivery, as the model knows it. */
export interface ModelDelivery {
  readonly number: number;
  readonly task: number;
  /** Key of the queue. */
  readonly type: string;
  readonly callback: Callback;
  readonly state: string;
  readonly at: number;
  tries: number;
  firstFailedAt: number;
  /** The actual time may be up to `jitterMs` later. */
  nextAt: number;
  jitterMs: number;
  failure: number;
  status: number;
  givenUpAt: number;
}

/** Deliveries in plain lists. */
export class ModelOutbox {
  readonly pending: ModelDelivery[] = [];
  readonly givenUp: ModelDelivery[] = [];
  owed = 0;
  dropped = 0;

  get all(): readonly ModelDelivery[] {
    return [...this.pending, ...this.givenUp];
  }

  /** Called after the task entered its state. */
  owe({ number: task, type, callback, state }: ModelTask, at: number): void {
    if (callback === undefined || !callback.on.includes(state)) return;
    this.owed += 1;
    const tried = { tries: 0, firstFailedAt: 0, nextAt: at, jitterMs: 0, failure: 0, status: 0 };
    const fresh = { ...tried, givenUpAt: 0 };
    this.pending.push({ number: this.owed, task, type, callback, state, at, ...fresh });
  }

  deliver(delivery: ModelDelivery): void {
    this.pending.splice(this.pending.indexOf(delivery), 1);
  }

  fail(delivery: ModelDelivery, how: ModelFailure, now: number): void {
    delivery.tries += 1;
    delivery.firstFailedAt ||= now;
    const endAt = delivery.firstFailedAt + 24 * HOUR_MS;
    Object.assign(delivery, { failure: how.failure, status: how.status });
    if (how.isFinal || now >= endAt) {
      this.deliver(delivery);
      this.givenUp.push(Object.assign(delivery, { givenUpAt: now, nextAt: 0, jitterMs: 0 }));
      return;
    }
    let delayMs = 5000;
    for (let n = 1; n < delivery.tries; n++) delayMs = Math.min(2 * delayMs, HOUR_MS);
    const { retryAfterMs } = how;
    const isAsked = retryAfterMs !== undefined;
    if (isAsked) delayMs = Math.min(Math.max(retryAfterMs, 1000), HOUR_MS);
    const nextAt = Math.min(now + delayMs, endAt);
    const latest = Math.min(now + delayMs + (isAsked ? 0 : delayMs / 4), endAt);
    Object.assign(delivery, { nextAt, jitterMs: latest - nextAt });
  }

  redeliver(delivery: ModelDelivery, now: number): void {
    Object.assign(delivery, { tries: 0, firstFailedAt: 0, nextAt: now, givenUpAt: 0 });
    if (!this.givenUp.includes(delivery)) return;
    this.givenUp.splice(this.givenUp.indexOf(delivery), 1);
    this.pending.push(delivery);
  }

  /** Drops the oldest deliveries that were given up. */
  drop(most: number): void {
    while (this.all.length > most && this.givenUp.length > 0) {
      this.givenUp.shift();
      this.dropped += 1;
    }
  }
}

interface ModelFailure {
  readonly failure: number;
  readonly status: number;
  readonly isFinal: boolean;
  readonly retryAfterMs: number | undefined;
}
