import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import {
  endTask,
  expireTask,
  nextAttemptAt,
  sessionOf,
  timeOutAttempt,
} from '../../decision/lease-ends.ts';
import { askToStop, GRACE_MS_DEFAULT, tellToStop } from '../../decision/stop-attempts.ts';
import { totalDeadline } from '../../state/deadlines.ts';
import {
  CANCELLED,
  CANCELLED_REASON,
  DEFERRED,
  HEARTBEAT_TIMEOUT_REASON,
  isHeld,
  NO_STOP,
  RUN_TIMEOUT_REASON,
  TIMED_OUT,
  TOTAL_TIMEOUT_REASON,
  WAITING,
} from '../../task/task-state.ts';
import { redriveDue } from '../dead-letters/redrive-tasks.ts';
import { backfillDue } from '../schedules/backfill-schedules.ts';
import { fireSchedules } from '../schedules/fire-schedules.ts';
import { fireRunTimers } from '../steps/waiting-steps.ts';
import { forgetKeys } from '../tasks/duplicates.ts';

/** Time has passed: fires the timers that are due. */
export interface AdvanceTime {
  readonly type: 'advance_time';
  readonly now: number;
  /** Random 32 bits, from which jitter is drawn. */
  readonly seed: number;
}

export interface AdvanceTimeReply {
  /** True when more timers may be due than one command fires. */
  readonly more: boolean;
}

/** Maximum number of timers that one command fires, so that a burst does not delay reports. */
const TIMERS_PER_COMMAND = 1000;

/** As above, for schedules: a fire costs far more than a timer. */
const FIRES_PER_COMMAND = 200;

/** Fires the timers that are due. */
export function decideAdvanceTime(decision: Decision, command: AdvanceTime): AdvanceTimeReply {
  const { state, activity, now } = decision;
  // Redrives go first, so that no task ends and runs again in one command: its outputs would be
  // wrong.
  let fired = redriveDue(decision, TIMERS_PER_COMMAND);
  for (; fired < TIMERS_PER_COMMAND; fired++) {
    const slot = state.timers.firstDue(now);
    if (slot === NO_SLOT) break;
    fire(decision, slot, { seed: command.seed, place: fired });
  }
  for (; fired < TIMERS_PER_COMMAND; fired++) {
    const slot = activity.firstSilent(now);
    if (slot === NO_SLOT) break;
    activity.forget(slot);
    if (state.tasks.stop[slot] !== NO_STOP) continue;
    askToStop(decision, slot, { reason: HEARTBEAT_TIMEOUT_REASON, graceMs: GRACE_MS_DEFAULT });
  }
  fired += fireRunTimers(decision, TIMERS_PER_COMMAND - fired);
  fired += forgetKeys(decision, TIMERS_PER_COMMAND - fired);
  const most = Math.min(FIRES_PER_COMMAND, TIMERS_PER_COMMAND - fired);
  let fires = fireSchedules(decision, most);
  fires += backfillDue(decision, most - fires);
  return { more: fires >= most || fired + fires === TIMERS_PER_COMMAND };
}

interface Draw {
  readonly seed: number;
  readonly place: number;
}

/** Handles the deadline that is due, which depends on the task's state. */
function fire(decision: Decision, slot: Slot, draw: Draw): void {
  const { tasks } = decision.state;
  if (isHeld(tasks.state[slot])) return fireHeld(decision, slot, draw);
  if (tasks.state[slot] === DEFERRED) return fireDeferred(decision, slot, draw);
  const isTotal = totalDeadline(decision.state, slot) <= decision.now;
  if (tasks.state[slot] === WAITING && !isTotal) return becomeDue(decision, slot);
  expireTask(decision, slot);
}

function fireHeld(decision: Decision, slot: Slot, draw: Draw): void {
  const { state } = decision;
  const { tasks } = state;
  const stop = tasks.stop[slot];
  const isExpected = decision.now < (sessionOf(decision, slot)?.graceUntil ?? 0);
  if (stop !== NO_STOP && isExpected && tasks.stopAt[slot] <= tasks.timerAt[slot]) {
    return askToStop(decision, slot, { reason: stop, graceMs: GRACE_MS_DEFAULT });
  }
  if (stop === CANCELLED_REASON) {
    return endTask(decision, slot, { state: CANCELLED, reason: CANCELLED_REASON });
  }
  if (totalDeadline(state, slot) <= tasks.timerAt[slot]) {
    tellToStop(decision, slot, { reason: TOTAL_TIMEOUT_REASON, graceMs: 0 });
    return endTask(decision, slot, { state: TIMED_OUT, reason: TOTAL_TIMEOUT_REASON });
  }
  if (stop === NO_STOP) {
    return askToStop(decision, slot, { reason: RUN_TIMEOUT_REASON, graceMs: GRACE_MS_DEFAULT });
  }
  timeOutAttempt(decision, slot, { reason: stop, retryAt: nextAttemptAt(decision, slot, draw) });
}

/** A deferred task has no worker to ask, so its attempt ends without a grace period. */
function fireDeferred(decision: Decision, slot: Slot, draw: Draw): void {
  if (totalDeadline(decision.state, slot) <= decision.state.tasks.timerAt[slot]) {
    return endTask(decision, slot, { state: TIMED_OUT, reason: TOTAL_TIMEOUT_REASON });
  }
  const retryAt = nextAttemptAt(decision, slot, draw);
  timeOutAttempt(decision, slot, { reason: RUN_TIMEOUT_REASON, retryAt });
}

function becomeDue({ state, emit, events }: Decision, slot: Slot): void {
  events.taskDue.slot = slot;
  events.taskDue.task = state.tasks.number[slot] as TaskNumber;
  emit(events.taskDue);
}
