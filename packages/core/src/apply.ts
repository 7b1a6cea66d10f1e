import type { AccessEvent } from './access-event.ts';
import { applyAccess } from './apply-access.ts';
import { applyAttempt } from './apply-attempts.ts';
import { applyCallback } from './apply-callbacks.ts';
import { applyRedriveStarted, applyTask } from './apply-tasks.ts';
import type { CallbackEvent } from './callback-event.ts';
import type { Event } from './event.ts';
import { invariant } from './invariant.ts';
import type { State } from './state.ts';

/**
 * The only writer of the state, with the files named after it and `task-places.ts`. Total over
 * `Event`: a recorded event is a fact, so applying it never fails (L3). An invariant that breaks
 * here means that state and log disagree.
 */
export function apply(state: State, at: number, event: Event): void {
  if (event.type === 'state_hashed') return state.changes.clear();
  state.now = at;
  state.changes.events += 1;
  switch (event.type) {
    case 'dedupe_forgotten':
      invariant(state.dedupe.task[event.slot] === event.task, 'a key stands for the task it names');
      state.changes.noteKey(event.slot);
      return state.dedupe.remove(event.slot);
    case 'queue_changed':
      state.internQueue(event.taskType).paused = event.paused;
      return;
    case 'task_type_changed':
      return state.taskTypes.put(event.taskType, event.definition);
    case 'redrive_started':
      return applyRedriveStarted(state, at, event);
    case 'redrive_ended':
      return state.redrives.end(event.redrive);
    case 'leases_skipped':
      state.nextLease = event.next;
      state.outbox.skipTo(event.nextDelivery);
      return;
    case 'access_key_created':
    case 'access_key_expiry_set':
    case 'access_key_revoked':
    case 'audit_recorded':
      return applyAccess(state, at, event);
    case 'callback_delivered':
    case 'callback_failed':
    case 'callback_redelivered':
    case 'callback_dropped':
      return applyCallback(state, at, event);
    default:
      state.changes.noteTask(event.slot);
      return applyToTask(state, at, event);
  }
}

type EventOfTask = Exclude<
  Event,
  | AccessEvent
  | CallbackEvent
  | {
      type:
        | 'state_hashed'
        | 'dedupe_forgotten'
        | 'queue_changed'
        | 'task_type_changed'
        | 'redrive_started'
        | 'redrive_ended'
        | 'leases_skipped';
    }
>;

function applyToTask(state: State, at: number, event: EventOfTask): void {
  if (event.type === 'task_submitted' || event.type === 'task_readmitted') {
    return applyTask(state, at, event);
  }
  invariant(state.tasks.number[event.slot] === event.task, 'an event finds its task in its slot');
  switch (event.type) {
    case 'attempt_leased':
    case 'attempt_started':
    case 'attempt_succeeded':
    case 'attempt_deferred':
    case 'attempt_failed':
    case 'attempt_stopping':
    case 'attempt_timed_out':
    case 'attempt_returned':
    case 'attempts_exhausted':
      return applyAttempt(state, at, event);
    default:
      return applyTask(state, at, event);
  }
}
