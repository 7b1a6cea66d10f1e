import { NO_LEASE, type Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf, TaskDetails } from '../events/events.ts';
import {
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
  type TASK_EVENTS,
} from '../events/task-events.ts';
import { INPUT_PAYLOAD, RESULT_PAYLOAD, TASK_PAYLOADS } from '../state/payload-columns.ts';
import type { State } from '../state/state.ts';
import type { Interner } from '../structures/interner.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
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
} from '../task/task-state.ts';
import { holdTexts, releaseTexts } from '../task/task-texts.ts';
import type { Appliers } from './applier.ts';
import { noteStart } from './apply-attempts.ts';
import { counts, countTask, storePayload, uncountTask } from './namespace-counts.ts';
import { enqueue, finish, leave, retime, wait } from './task-places.ts';

/** The part of `apply` for tasks as a whole. */
export const TASK_APPLIERS: Appliers<typeof TASK_EVENTS> = {
  task_submitted: applySubmitted,
  task_readmitted: applyReadmitted,
  task_due: (state, at, { slot }) =>
    enqueue(state, slot, { at, reason: DUE_REASON, toHead: false }),
  task_ended: applyEnded,
  task_patched: applyPatched,
  task_paused: (state, at, { slot }) => applyPaused(state, at, slot),
  task_resumed: (state, at, { slot }) => applyResumed(state, at, slot),
  task_retried: applyRetried,
  dead_letter_dropped: applyDropped,
  task_forgotten: applyForgotten,
};

function applySubmitted(state: State, at: number, event: EventOf<'task_submitted'>): void {
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

function applyReadmitted(state: State, at: number, event: EventOf<'task_readmitted'>): void {
  const { tasks } = state;
  const slot = admit(state, event);
  tasks.submittedAt[slot] = event.submittedAt;
  tasks.retriedAt[slot] = at;
  tasks.dedupe[slot] = event.dedupe;
  enqueue(state, slot, { at, reason: RETRIED_REASON, toHead: false });
}

/** Sets all fields of a task that enters memory. */
export function admit(state: State, event: TaskDetails): Slot {
  const { tasks } = state;
  const slot = tasks.allocate(event.task);
  invariant(slot === event.slot, 'a task is stored in the slot that its event names');
  tasks.priority[slot] = event.priority;
  const queue = state.queueTable.intern(event.taskType);
  queue.references += 1;
  tasks.queue[slot] = queue.index;
  holdTexts(tasks, state.texts, slot, event);
  state.payloads.store(INPUT_PAYLOAD, slot, event.input);
  countTask(state, slot);
  return slot;
}

/** Returns the value for the task's `dedupe` column. */
function claim(
  state: State,
  at: number,
  { slot, dedupe, task }: EventOf<'task_submitted'>,
): number {
  if (dedupe.windowMs === 0) return 0;
  const { use } = state.queues[state.tasks.queue[slot]];
  use.dedupeKeys += 1;
  const entry = state.dedupe.add(dedupe, { task, submittedAt: at, namespace: use.index });
  state.changes.noteKey(entry);
  return entry + 1;
}

function applyEnded(state: State, at: number, event: EventOf<'task_ended'>): void {
  const { slot } = event;
  noteStart(state, slot, event.startedAt);
  if (event.hasPayload) storePayload(state, RESULT_PAYLOAD, slot, event.payload);
  if (event.answer !== 0) state.tasks.answered[slot] = event.answer;
  if (event.key !== 0) state.tasks.endKey[slot] = event.key;
  finish(state, slot, { at, taskState: event.state, reason: event.reason });
}

function applyPatched(state: State, at: number, event: EventOf<'task_patched'>): void {
  const { tasks } = state;
  const { slot, fields } = event;
  if (fields & PATCHED_INPUT) {
    // An ended task is changed before it is retried (retry.patched-before), and some do not count.
    if (counts(state, slot)) storePayload(state, INPUT_PAYLOAD, slot, event.input);
    else state.payloads.store(INPUT_PAYLOAD, slot, event.input);
  }
  if (fields & PATCHED_TIMEOUTS)
    swap<unknown>(state.texts.timeouts, tasks.timeouts, slot, event.timeouts);
  if (fields & PATCHED_TAGS) swap<unknown>(state.texts.tags, tasks.tags, slot, event.tags);
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
  // A queued task loses its place only if the new time is in the future.
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
  // A task that was queued before the pause keeps the queue time that it already had.
  const joinedAt = dueAt <= 0 ? at + dueAt : at;
  enqueue(state, slot, { at: joinedAt, reason: RESUMED_REASON, toHead: true });
}

function applyRetried(state: State, at: number, event: EventOf<'task_retried'>): void {
  const { tasks } = state;
  const { slot, redrive } = event;
  if (!counts(state, slot)) countTask(state, slot);
  leave(state, slot);
  tasks.attempt[slot] = 0;
  tasks.retriedAt[slot] = at;
  tasks.endedAt[slot] = 0;
  if (tasks.isDiscarded[slot] !== 0) tasks.isDiscarded[slot] = 0;
  if (tasks.cancelAskedAt[slot] !== 0) tasks.cancelAskedAt[slot] = 0;
  storePayload(state, RESULT_PAYLOAD, slot, NO_RESULT);
  if (redrive !== 0) state.redrives.step(redrive, at);
  const reason = redrive === 0 ? RETRIED_REASON : REDRIVEN_REASON;
  enqueue(state, slot, { at, reason, toHead: false });
}

const NO_RESULT: PayloadRange = { bytes: new Uint8Array(0), start: 0, end: 0 };

function applyDropped(
  state: State,
  _at: number,
  { slot, isOverflow }: EventOf<'dead_letter_dropped'>,
): void {
  leave(state, slot);
  uncountTask(state, slot);
  state.tasks.isDiscarded[slot] = 1;
  state.finished.append(slot);
  if (isOverflow) state.deadLetters.dropped += 1;
}

function applyForgotten(
  state: State,
  _at: number,
  { slot, task }: EventOf<'task_forgotten'>,
): void {
  const { tasks } = state;
  leave(state, slot);
  if (tasks.lease[slot] !== NO_LEASE) state.holders.forget(tasks.holderOf(slot));
  const key = tasks.dedupe[slot] - 1;
  // The dedupe key outlives the task and must record how the task ended.
  if (key >= 0 && state.dedupe.task[key] === task) {
    state.dedupe.lastState[key] = tasks.state[slot];
    state.changes.noteKey(key);
  }
  releaseTexts(tasks, state.texts, slot);
  state.payloads.releaseAll(slot, TASK_PAYLOADS);
  const queue = state.queueTable.places[tasks.queue[slot]];
  queue.references -= 1;
  state.queueTable.forgetIfUnused(queue);
  tasks.free(slot);
}
