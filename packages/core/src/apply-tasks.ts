import { noteStart } from './apply-attempts.ts';
import {
  type DeadLetterDropped,
  type Event,
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
  type PayloadRange,
  type RedriveStarted,
  type TaskDetails,
  type TaskEnded,
  type TaskForgotten,
  type TaskPatched,
  type TaskReadmitted,
  type TaskRetried,
  type TaskSubmitted,
} from './event.ts';
import { NO_LEASE, type Slot } from './ids.ts';
import type { Interner } from './interner.ts';
import { invariant, unreachable } from './invariant.ts';
import { INPUT_PAYLOAD, RESULT_PAYLOAD } from './payload-columns.ts';
import type { State } from './state.ts';
import { enqueue, finish, leave, retime, wait } from './task-places.ts';
import {
  DELAYED_REASON,
  DUE_REASON,
  PAUSED,
  PAUSED_REASON,
  QUEUED,
  REDRIVEN_REASON,
  RESCHEDULED_REASON,
  RESUMED_REASON,
  RETRIED_REASON,
  SUBMITTED_REASON,
} from './task-state.ts';

type TaskEvent = Extract<Event, { type: `task_${string}` | 'dead_letter_dropped' }>;

/** The part of `apply` that is about tasks as a whole. */
export function applyTask(
  state: State,
  at: number,
  event: Exclude<TaskEvent, { type: 'task_type_changed' }>,
): void {
  const { slot } = event;
  switch (event.type) {
    case 'task_submitted':
      return applySubmitted(state, at, event);
    case 'task_readmitted':
      return applyReadmitted(state, at, event);
    case 'task_due':
      return enqueue(state, slot, { at, reason: DUE_REASON, toHead: false });
    case 'task_ended':
      return applyEnded(state, at, event);
    case 'task_patched':
      return applyPatched(state, at, event);
    case 'task_paused':
      return applyPaused(state, at, slot);
    case 'task_resumed':
      return applyResumed(state, at, slot);
    case 'task_retried':
      return applyRetried(state, at, event);
    case 'dead_letter_dropped':
      return applyDropped(state, event);
    case 'task_forgotten':
      return applyForgotten(state, event);
    default:
      unreachable(event);
  }
}

export function applyRedriveStarted(state: State, at: number, event: RedriveStarted): void {
  const { redrive, namespace, taskType } = event;
  const ratePerSec = event.ratePer1000Sec / 1000;
  const times = { startedAt: at, nextAt: at };
  state.redrives.start(redrive, { namespace, taskType, ratePerSec, ...times, done: 0 });
}

function applySubmitted(state: State, at: number, event: TaskSubmitted): void {
  const { tasks } = state;
  const slot = admit(state, event);
  tasks.submittedAt[slot] = at;
  tasks.dedupe[slot] = claim(state, at, event);
  if (event.runAt > at) {
    wait(state, slot, { until: event.runAt, reason: DELAYED_REASON });
  } else {
    enqueue(state, slot, { at, reason: SUBMITTED_REASON, toHead: false });
  }
  state.nextTask = (event.task + 1) as typeof state.nextTask;
}

function applyReadmitted(state: State, at: number, event: TaskReadmitted): void {
  const { tasks } = state;
  const slot = admit(state, event);
  tasks.submittedAt[slot] = event.submittedAt;
  tasks.retriedAt[slot] = at;
  tasks.dedupe[slot] = event.dedupe;
  enqueue(state, slot, { at, reason: RETRIED_REASON, toHead: false });
}

/** Everything that a task is given when it comes into memory. */
function admit(state: State, event: TaskDetails): Slot {
  const { tasks } = state;
  const slot = tasks.allocate(event.task);
  invariant(slot === event.slot, 'a task is stored in the slot that its event names');
  tasks.priority[slot] = event.priority;
  tasks.queue[slot] = state.internQueue(event.taskType).index;
  holdIn(tasks.shape, slot, state.shapes.hold(event.shape));
  tasks.retry[slot] = state.retries.hold(event.retry);
  holdIn(tasks.timeouts, slot, state.timeouts.hold(event.timeouts));
  holdIn(tasks.tags, slot, state.tags.hold(event.tags));
  holdIn(tasks.callback, slot, state.callbacks.hold(event.callback));
  holdIn(tasks.parent, slot, state.parents.hold(event.parent));
  state.payloads.store(INPUT_PAYLOAD, slot, event.input);
  return slot;
}

/** Most tasks have none of it, and a page of the column that is never written costs nothing. */
function holdIn(column: Uint32Array, slot: Slot, index: number): void {
  if (column[slot] !== index) column[slot] = index;
}

/** Answers what the task's column says of its key. */
function claim(state: State, at: number, { dedupe, task }: TaskSubmitted): number {
  if (dedupe.windowMs === 0) return 0;
  const entry = state.dedupe.add(dedupe, task, at);
  state.changes.noteKey(entry);
  return entry + 1;
}

function applyEnded(state: State, at: number, event: TaskEnded): void {
  const { slot } = event;
  noteStart(state, slot, event.startedAt);
  if (event.hasPayload) state.payloads.store(RESULT_PAYLOAD, slot, event.payload);
  if (event.answer !== 0) state.tasks.answered[slot] = event.answer;
  if (event.key !== 0) state.tasks.endKey[slot] = event.key;
  finish(state, slot, { at, taskState: event.state, reason: event.reason });
}

function applyPatched(state: State, at: number, event: TaskPatched): void {
  const { tasks } = state;
  const { slot, fields } = event;
  if (fields & PATCHED_INPUT) state.payloads.store(INPUT_PAYLOAD, slot, event.input);
  if (fields & PATCHED_TIMEOUTS) swap(state.timeouts, tasks.timeouts, slot, event.timeouts);
  if (fields & PATCHED_TAGS) swap(state.tags, tasks.tags, slot, event.tags);
  const joinedAt = tasks.dueAt[slot];
  const wasQueued = tasks.state[slot] === QUEUED;
  if (fields & PATCHED_PRIORITY) {
    if (wasQueued) leave(state, slot);
    tasks.priority[slot] = event.priority;
    if (wasQueued) {
      enqueue(state, slot, { at: joinedAt, reason: tasks.reason[slot], toHead: false });
    }
  }
  if (fields & PATCHED_RUN_AT) reschedule(state, at, { slot, runAt: event.runAt });
  retime(state, slot);
}

function swap<T>(interner: Interner<T>, column: Uint32Array, slot: Slot, text: string): void {
  const before = column[slot];
  column[slot] = interner.hold(text);
  interner.release(before);
}

function reschedule(
  state: State,
  at: number,
  { slot, runAt }: { readonly slot: Slot; readonly runAt: number },
): void {
  const { tasks } = state;
  if (tasks.state[slot] === PAUSED) {
    tasks.dueAt[slot] = Math.max(runAt, at);
    return;
  }
  // One that is queued already loses its place only to a time that is yet to come.
  if (runAt <= at && tasks.state[slot] === QUEUED) return;
  leave(state, slot);
  if (runAt > at) wait(state, slot, { until: runAt, reason: DELAYED_REASON });
  else enqueue(state, slot, { at, reason: RESCHEDULED_REASON, toHead: false });
}

function applyPaused(state: State, at: number, slot: Slot): void {
  const { tasks } = state;
  if (tasks.state[slot] === QUEUED) {
    leave(state, slot);
    tasks.dueAt[slot] -= at;
  }
  tasks.state[slot] = PAUSED;
  tasks.reason[slot] = PAUSED_REASON;
  retime(state, slot);
}

function applyResumed(state: State, at: number, slot: Slot): void {
  const { tasks } = state;
  const dueAt = tasks.dueAt[slot];
  if (dueAt > at) return wait(state, slot, { until: dueAt, reason: RESUMED_REASON });
  // One that had been queued before goes on where its time in the queue stopped.
  const joinedAt = dueAt <= 0 ? at + dueAt : at;
  enqueue(state, slot, { at: joinedAt, reason: RESUMED_REASON, toHead: true });
}

function applyRetried(state: State, at: number, event: TaskRetried): void {
  const { tasks } = state;
  const { slot, redrive } = event;
  leave(state, slot);
  tasks.attempt[slot] = 0;
  tasks.retriedAt[slot] = at;
  tasks.endedAt[slot] = 0;
  if (tasks.isDiscarded[slot] !== 0) tasks.isDiscarded[slot] = 0;
  if (tasks.cancelAskedAt[slot] !== 0) tasks.cancelAskedAt[slot] = 0;
  state.payloads.store(RESULT_PAYLOAD, slot, NO_RESULT);
  if (redrive !== 0) state.redrives.step(redrive, at);
  const reason = redrive === 0 ? RETRIED_REASON : REDRIVEN_REASON;
  enqueue(state, slot, { at, reason, toHead: false });
}

const NO_RESULT: PayloadRange = { bytes: new Uint8Array(0), start: 0, end: 0 };

function applyDropped(state: State, { slot, isOverflow }: DeadLetterDropped): void {
  leave(state, slot);
  state.tasks.isDiscarded[slot] = 1;
  state.finished.append(slot);
  if (isOverflow) state.deadLetters.dropped += 1;
}

function applyForgotten(state: State, { slot, task }: TaskForgotten): void {
  const { tasks } = state;
  leave(state, slot);
  if (tasks.lease[slot] !== NO_LEASE) state.holders.forget(tasks.holderOf(slot));
  const key = tasks.dedupe[slot] - 1;
  // The key outlives the task, and has to say how it ended.
  if (key >= 0 && state.dedupe.task[key] === task) {
    state.dedupe.lastState[key] = tasks.state[slot];
    state.changes.noteKey(key);
  }
  state.shapes.release(tasks.shape[slot]);
  state.retries.release(tasks.retry[slot]);
  state.timeouts.release(tasks.timeouts[slot]);
  state.tags.release(tasks.tags[slot]);
  state.callbacks.release(tasks.callback[slot]);
  state.parents.release(tasks.parent[slot]);
  state.payloads.releaseAll(slot);
  tasks.free(slot);
}
