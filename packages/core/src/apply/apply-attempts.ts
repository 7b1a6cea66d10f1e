import { NO_LEASE, type Slot } from '../base/ids.ts';
import type { ATTEMPT_EVENTS } from '../events/attempt-events.ts';
import type { EventOf } from '../events/events.ts';
import { RESULT_PAYLOAD } from '../state/payload-columns.ts';
import type { State } from '../state/state.ts';
import {
  BACKOFF_REASON,
  CANCELLED_REASON,
  DEFERRED,
  FAILED,
  FAILED_REASON,
  LATER_ANSWER,
  LATER_REASON,
  LEASED,
  LEASED_REASON,
  NO_ANSWER,
  REFUSED_ANSWER,
  REFUSED_REASON,
  RUNNING,
  STARTED_REASON,
  SUCCEEDED,
  SUCCEEDED_ANSWER,
  SUCCEEDED_REASON,
  TIMED_OUT,
} from '../task/task-state.ts';
import type { Appliers } from './applier.ts';
import { oweCallback } from './apply-callbacks.ts';
import { storePayload } from './namespace-counts.ts';
import { enqueue, finish, leave, retime, wait } from './task-places.ts';

/** The part of `apply` for attempts and their leases. */
export const ATTEMPT_APPLIERS: Appliers<typeof ATTEMPT_EVENTS> = {
  attempt_leased: applyLeased,
  attempt_started: applyStarted,
  attempt_succeeded: applySucceeded,
  // Only the records keep it.
  attempt_used: () => undefined,
  attempt_deferred: applyDeferred,
  attempt_failed: applyFailed,
  attempt_stopping: applyStopping,
  attempt_timed_out: applyTimedOut,
  attempt_returned: applyReturned,
  attempts_exhausted: (state, at, { slot, reason }) =>
    finish(state, slot, { at, taskState: FAILED, reason }),
};

function applyStarted(state: State, at: number, { slot }: EventOf<'attempt_started'>): void {
  state.tasks.state[slot] = RUNNING;
  state.tasks.reason[slot] = STARTED_REASON;
  state.tasks.startedAt[slot] = at;
  oweCallback(state, slot, at);
}

function applyLeased(state: State, at: number, event: EventOf<'attempt_leased'>): void {
  const { tasks, holders } = state;
  const { slot } = event;
  leave(state, slot);
  const holder = holders.intern(event);
  holders.hold(holder, slot, at);
  if (tasks.lease[slot] !== NO_LEASE) holders.forget(tasks.holderOf(slot));

  tasks.state[slot] = LEASED;
  tasks.reason[slot] = LEASED_REASON;
  tasks.attempt[slot] += 1;
  tasks.lease[slot] = event.lease;
  tasks.holder[slot] = holder;
  tasks.answered[slot] = NO_ANSWER;
  tasks.leasedAt[slot] = at;
  tasks.startedAt[slot] = 0;
  tasks.endedAt[slot] = 0;
  state.nextLease = (event.lease + 1) as typeof state.nextLease;
  retime(state, slot);
}

function applySucceeded(state: State, at: number, event: EventOf<'attempt_succeeded'>): void {
  const { slot } = event;
  noteStart(state, slot, event.startedAt);
  storePayload(state, RESULT_PAYLOAD, slot, event.output);
  state.tasks.answered[slot] = SUCCEEDED_ANSWER;
  finish(state, slot, { at, taskState: SUCCEEDED, reason: SUCCEEDED_REASON });
}

function applyDeferred(state: State, at: number, event: EventOf<'attempt_deferred'>): void {
  const { tasks } = state;
  const { slot } = event;
  noteStart(state, slot, event.startedAt);
  const isNews = tasks.state[slot] === LEASED;
  leave(state, slot);
  tasks.state[slot] = DEFERRED;
  tasks.reason[slot] = LATER_REASON;
  tasks.answered[slot] = LATER_ANSWER;
  tasks.endedAt[slot] = at;
  retime(state, slot);
  // A worker that reported the start has already created the callback for this state change.
  if (isNews) oweCallback(state, slot, at);
}

function applyFailed(state: State, at: number, event: EventOf<'attempt_failed'>): void {
  const { slot } = event;
  noteStart(state, slot, event.startedAt);
  storePayload(state, RESULT_PAYLOAD, slot, event.error);
  state.tasks.answered[slot] = event.answer;
  if (event.retryAt === 0) {
    return finish(state, slot, { at, taskState: FAILED, reason: FAILED_REASON });
  }
  waitForNext(state, at, { slot, until: event.retryAt, reason: BACKOFF_REASON });
}

function applyStopping(state: State, at: number, event: EventOf<'attempt_stopping'>): void {
  const { tasks } = state;
  const { slot, reason } = event;
  tasks.stop[slot] = reason;
  tasks.stopAt[slot] = event.stopAt;
  if (reason === CANCELLED_REASON && tasks.cancelAskedAt[slot] === 0) {
    tasks.cancelAskedAt[slot] = at;
  }
  retime(state, slot);
}

function applyTimedOut(state: State, at: number, event: EventOf<'attempt_timed_out'>): void {
  const { slot, reason } = event;
  noteStart(state, slot, event.startedAt);
  storePayload(state, RESULT_PAYLOAD, slot, event.error);
  // A deferred attempt already has the answer of its handler, which stays.
  if (event.answer !== NO_ANSWER) state.tasks.answered[slot] = event.answer;
  if (event.retryAt === 0) return finish(state, slot, { at, taskState: TIMED_OUT, reason });
  waitForNext(state, at, { slot, until: event.retryAt, reason });
}

function applyReturned(state: State, at: number, event: EventOf<'attempt_returned'>): void {
  const { tasks } = state;
  const { slot } = event;
  leave(state, slot);
  tasks.endedAt[slot] = at;
  if (!event.spent) tasks.attempt[slot] -= 1;
  if (event.reason === REFUSED_REASON) tasks.answered[slot] = REFUSED_ANSWER;
  const { reason, retryAt } = event;
  if (retryAt === 0) enqueue(state, slot, { at, reason, toHead: true });
  else wait(state, slot, { until: retryAt, reason });
}

/** The attempt is over and another one follows. */
function waitForNext(
  state: State,
  at: number,
  { slot, until, reason }: { readonly slot: Slot; readonly until: number; readonly reason: number },
): void {
  leave(state, slot);
  state.tasks.endedAt[slot] = at;
  wait(state, slot, { until, reason });
}

/**
 * A worker need not report the start separately: the report of the end may carry the start time.
 */
export function noteStart({ tasks }: State, slot: Slot, startedAt: number): void {
  if (startedAt !== 0 && tasks.startedAt[slot] === 0) tasks.startedAt[slot] = startedAt;
}
