import type { Event } from '../events/events.ts';
import type { ReadonlyState } from '../state/state.ts';
import {
  CANCELLED,
  DEFERRED,
  FAILED,
  isHeld,
  SUCCEEDED,
  WORKER_LOST_REASON,
} from '../task/task-state.ts';
import type { Outputs } from './outputs.ts';

/**
 * How attempts end. `lost`: the worker went away without an answer. `returned`: the worker refused
 * the task, handed it back or never received it, which spends no attempt.
 */
export const ATTEMPT_OUTCOMES = [
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'lost',
  'returned',
] as const;

const NO_END = -1;
const SUCCEEDED_END = ATTEMPT_OUTCOMES.indexOf('succeeded');
const FAILED_END = ATTEMPT_OUTCOMES.indexOf('failed');
const TIMED_OUT_END = ATTEMPT_OUTCOMES.indexOf('timed_out');
const CANCELLED_END = ATTEMPT_OUTCOMES.indexOf('cancelled');
const LOST_END = ATTEMPT_OUTCOMES.indexOf('lost');
const RETURNED_END = ATTEMPT_OUTCOMES.indexOf('returned');

/**
 * Adds the end of an attempt to the outputs. Called before the event is applied: afterwards the
 * columns no longer say whether an attempt was under way, and a lost task may be leased again
 * within the same command.
 */
export function noteAttemptEnd(
  outputs: Outputs,
  { tasks }: ReadonlyState,
  event: Event,
  now: number,
): void {
  const { slot } = event;
  const outcome = outcomeOf(event, tasks.state[slot]);
  if (outcome === NO_END) return;
  const reported = 'startedAt' in event ? event.startedAt : 0;
  const startedAt = tasks.startedAt[slot] || reported || tasks.leasedAt[slot];
  outputs.attemptSlots.push(slot);
  outputs.attemptOutcomes.push(outcome);
  outputs.attemptMs.push(Math.max(0, now - startedAt));
}

function outcomeOf(event: Event, stateBefore: number): number {
  switch (event.type) {
    case 'attempt_succeeded':
      return SUCCEEDED_END;
    case 'attempt_failed':
      return FAILED_END;
    case 'attempt_timed_out':
      return event.reason === WORKER_LOST_REASON ? LOST_END : TIMED_OUT_END;
    case 'attempt_returned':
      return event.reason === WORKER_LOST_REASON ? LOST_END : RETURNED_END;
    case 'attempts_exhausted':
      return LOST_END;
    case 'task_ended':
      // A task that waits can end, too, but no attempt ends with it.
      return isHeld(stateBefore) || stateBefore === DEFERRED ? endOf(event.state) : NO_END;
    default:
      return NO_END;
  }
}

function endOf(state: number): number {
  if (state === SUCCEEDED) return SUCCEEDED_END;
  if (state === FAILED) return FAILED_END;
  return state === CANCELLED ? CANCELLED_END : TIMED_OUT_END;
}
