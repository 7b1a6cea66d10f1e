import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { endTask } from '../../decision/lease-ends.ts';
import type { Delivery } from '../../state/outbox.ts';
import { DELIVERY_FAILURES, isFinalFailure, NO_FAILURE } from '../../task/delivery-failures.ts';
import { backoffMs, jitterOf, parseRetry, type ResolvedRetry } from '../../task/retry-policy.ts';
import {
  FAILED,
  FAILED_REASON,
  QUEUED,
  SUCCEEDED,
  SUCCEEDED_REASON,
} from '../../task/task-state.ts';
import { CALLBACK_TASK_TYPE } from '../../workflow/program.ts';
import { subjectOf } from './delivery-subject.ts';

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;

/** Delays of 5 s, 10 s, 20 s and so on, up to an hour, plus up to 25% jitter. */
const POLICY: ResolvedRetry = {
  ...parseRetry(''),
  maxAttempts: Number.POSITIVE_INFINITY,
  delayMs: 5 * SECOND_MS,
  maxDelayMs: HOUR_MS,
};

/** Retries of a delivery stop this long after its first failure. */
const GIVEN_UP_AFTER_MS = 24 * HOUR_MS;

/** More than one command can add. */
const DROPS_PER_COMMAND = 10_000;

/** One try to deliver has ended. */
export interface RecordDelivery {
  readonly type: 'record_delivery';
  readonly now: number;
  /** The number of the delivery. */
  readonly delivery: number;
  /** The number of the failure; 0 for success. */
  readonly failure: number;
  /** HTTP status of the answer; 0 without an answer. */
  readonly status: number;
  readonly durationMs: number;
  /** The delay that the receiver asked for, if any. */
  readonly retryAfterMs?: number;
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
}

export interface RecordDeliveryReply {
  /** `unknown` when the delivery is not pending. */
  readonly outcome: 'delivered' | 'failed' | 'given_up' | 'unknown';
  /** When the next try is due; 0 when there is none. */
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
    endCallbackStep(decision, delivery);
    return { outcome: 'delivered', nextAt: 0 };
  }
  const nextAt = nextTryAt(decision.now, delivery, command);
  emit(Object.assign(events.callbackFailed, tried, { failure, nextAt }));
  if (nextAt === 0) endCallbackStep(decision, delivery, { failure, status });
  return { outcome: nextAt === 0 ? 'given_up' : 'failed', nextAt };
}

/** The task of a CALLBACK step that waits ends with its delivery. */
function endCallbackStep(
  decision: Decision,
  { task }: Delivery,
  failed?: { readonly failure: number; readonly status: number },
): void {
  const { state, runWork } = decision;
  const slot = state.tasks.find(task);
  if (slot === NO_SLOT || state.typeOf(slot) !== CALLBACK_TASK_TYPE) return;
  // One that does not wait ended at once. A worker that serves this type may hold it.
  if (state.tasks.step[slot] === 0 || state.tasks.state[slot] !== QUEUED) return;
  if (failed === undefined) {
    if (isEndedByCall(decision, slot)) return;
    endTask(decision, slot, { state: SUCCEEDED, reason: SUCCEEDED_REASON });
    return;
  }
  const status = failed.status === 0 ? '' : ` (status ${failed.status})`;
  const why = `${DELIVERY_FAILURES[failed.failure]}${status}`;
  const error = { message: `the callback was given up: ${why}`, code: 'callback_given_up' };
  const bytes = runWork.utf8.encode(JSON.stringify(error));
  const payload = { bytes, start: 0, end: bytes.length };
  endTask(decision, slot, { state: FAILED, reason: FAILED_REASON, payload });
}

/** Whether the task is of an EVENT with `asyncComplete`, which does not end with its delivery. */
function isEndedByCall({ state, runWork }: Decision, task: Slot): boolean {
  const { steps, table } = state.runs;
  const step = state.tasks.step[task] - 1;
  // The run has left the task, which ends like any other.
  if (step < 0 || steps.link[step] !== task + 1) return false;
  const program = runWork.programs.of(state.programs.at(table.program[steps.run[step]]));
  return program.nodes[steps.node[step]].isAsync;
}

/**
 * When the next try is due; 0 when there is none. The final try is exactly at the 24-hour deadline.
 */
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

/** Drops the oldest deliveries that were given up, to make room for pending ones (L9). */
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
