import type { Slot } from '../base/ids.ts';
import { deadlineOf } from '../state/deadlines.ts';
import type { State } from '../state/state.ts';
import { LEFT_RUN } from '../state/task-table.ts';
import {
  CANCELLED,
  isDead,
  isHeld,
  isTerminal,
  NO_STOP,
  QUEUED,
  WAITING,
} from '../task/task-state.ts';
import { oweCallback } from './apply-callbacks.ts';
import { uncountTask } from './namespace-counts.ts';
import { noteEnd } from './schedule-places.ts';
import { reportTask } from './step-places.ts';

/**
 * Moves tasks between lists (state.one-list) and sets their timers (state.one-timer). Only `apply`
 * calls these functions. A task first leaves its current list, then enters another one.
 */

/** Takes the task out of the list that holds it, if one does. */
export function leave(state: State, slot: Slot): void {
  const { tasks } = state;
  const taskState = tasks.state[slot];
  if (taskState === QUEUED) {
    state.queues[tasks.queue[slot]].remove(slot, tasks.shape[slot], tasks.priority[slot]);
  } else if (isHeld(taskState)) {
    state.holders.letGo(tasks.holderOf(slot), slot);
    if (tasks.stop[slot] !== NO_STOP) tasks.stop[slot] = NO_STOP;
  } else if (tasks.step[slot] !== 0 && tasks.step[slot] !== LEFT_RUN) {
    // The ended task of a step is in no list: its run keeps it.
  } else if (isDead(taskState) && tasks.isDiscarded[slot] === 0) {
    state.deadLetters.remove(state.queues[tasks.queue[slot]], slot);
  } else if (isTerminal(taskState)) {
    state.finished.remove(slot);
  }
}

/**
 * The only way into a queue: to the tail of the task's level, or to its head when its lease ended
 * without an answer.
 */
export function enqueue(
  state: State,
  slot: Slot,
  how: { readonly at: number; readonly reason: number; readonly toHead: boolean },
): void {
  const { tasks } = state;
  const queue = state.queues[tasks.queue[slot]];
  tasks.state[slot] = QUEUED;
  tasks.reason[slot] = how.reason;
  tasks.dueAt[slot] = how.at;
  if (how.toHead) {
    tasks.order[slot] = state.nextHeadOrder--;
    queue.prepend(slot, tasks.shape[slot], tasks.priority[slot]);
  } else {
    tasks.order[slot] = state.nextTailOrder++;
    queue.append(slot, tasks.shape[slot], tasks.priority[slot]);
  }
  retime(state, slot);
}

/** The task is in no queue until its time comes. */
export function wait(
  state: State,
  slot: Slot,
  { until, reason }: { readonly until: number; readonly reason: number },
): void {
  state.tasks.state[slot] = WAITING;
  state.tasks.reason[slot] = reason;
  state.tasks.dueAt[slot] = until;
  retime(state, slot);
}

/** The task ended. It may become a dead letter. */
export function finish(
  state: State,
  slot: Slot,
  end: { readonly at: number; readonly taskState: number; readonly reason: number },
): void {
  const { tasks } = state;
  leave(state, slot);
  tasks.state[slot] = end.taskState;
  tasks.reason[slot] = end.reason;
  tasks.endedAt[slot] = end.at;
  if (tasks.step[slot] !== 0) {
    uncountTask(state, slot);
    reportTask(state, slot);
  } else if (isDead(end.taskState)) state.deadLetters.add(state.queues[tasks.queue[slot]], slot);
  else {
    uncountTask(state, slot);
    state.finished.append(slot);
  }
  retime(state, slot);
  oweCallback(state, slot, end.at);
  const wasCancelled = end.taskState === CANCELLED;
  noteEnd(state, { made: tasks.number[slot], at: end.at, wasCancelled });
}

/** Sets the timer to the earliest deadline that the task has now. */
export function retime(state: State, slot: Slot): void {
  const { tasks, timers } = state;
  const at = deadlineOf(state, slot);
  if (timers.has(slot)) {
    if (tasks.timerAt[slot] === at) return;
    timers.remove(slot);
  }
  if (at === Number.POSITIVE_INFINITY) return;
  tasks.timerAt[slot] = at;
  timers.add(slot);
}
