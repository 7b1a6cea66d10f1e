import type {
  AttemptFailed,
  AttemptLeased,
  AttemptReturned,
  AttemptSucceeded,
  Event,
  TaskForgotten,
  TaskSubmitted,
} from './event.ts';
import { NO_LEASE, type Slot } from './ids.ts';
import { invariant, unreachable } from './invariant.ts';
import { INPUT_PAYLOAD, RESULT_PAYLOAD } from './payload-columns.ts';
import type { State } from './state.ts';
import {
  BACKOFF_REASON,
  DELAYED_REASON,
  DUE_REASON,
  FAILED,
  FAILED_ANSWER,
  FAILED_REASON,
  LEASED,
  LEASED_REASON,
  NO_ANSWER,
  QUEUED,
  RUNNING,
  STARTED_REASON,
  SUBMITTED_REASON,
  SUCCEEDED,
  SUCCEEDED_ANSWER,
  SUCCEEDED_REASON,
  WAITING,
} from './task-state.ts';

/**
 * The only writer of the state. Total over `Event`: a recorded event is a fact, so applying it
 * never fails (L3). An invariant that breaks here means that state and log disagree.
 */
export function apply(state: State, at: number, event: Event): void {
  if (event.type === 'state_hashed') return state.changes.clear();
  state.now = at;
  state.changes.events += 1;
  if (event.type === 'dedupe_forgotten') {
    invariant(state.dedupe.task[event.slot] === event.task, 'a key stands for the task it names');
    state.changes.noteKey(event.slot);
    return state.dedupe.remove(event.slot);
  }
  state.changes.noteTask(event.slot);
  applyToTask(state, at, event);
}

type EventOfTask = Exclude<Event, { type: 'state_hashed' | 'dedupe_forgotten' }>;

function applyToTask(state: State, at: number, event: EventOfTask): void {
  if (event.type === 'task_submitted') return applyTaskSubmitted(state, at, event);

  invariant(state.tasks.number[event.slot] === event.task, 'an event finds its task in its slot');
  switch (event.type) {
    case 'task_due':
      state.timers.remove(event.slot);
      return enqueue(state, event.slot, { at, reason: DUE_REASON, toHead: false });
    case 'attempt_leased':
      return applyAttemptLeased(state, at, event);
    case 'attempt_started':
      state.tasks.state[event.slot] = RUNNING;
      state.tasks.reason[event.slot] = STARTED_REASON;
      state.tasks.startedAt[event.slot] = at;
      return;
    case 'attempt_succeeded':
      return applyAttemptSucceeded(state, at, event);
    case 'attempt_failed':
      return applyAttemptFailed(state, at, event);
    case 'attempt_returned':
      return applyAttemptReturned(state, at, event);
    case 'attempts_exhausted':
      return finish(state, event.slot, { at, taskState: FAILED, reason: event.reason });
    case 'task_forgotten':
      return applyTaskForgotten(state, event);
    default:
      unreachable(event);
  }
}

function applyTaskSubmitted(state: State, at: number, event: TaskSubmitted): void {
  const { tasks } = state;
  const slot = tasks.allocate(event.task);
  invariant(slot === event.slot, 'a task is stored in the slot that its event names');

  tasks.submittedAt[slot] = at;
  tasks.priority[slot] = event.priority;
  tasks.retry[slot] = state.retries.hold(event.retry);
  tasks.queue[slot] = state.internQueue(event.taskType).index;
  state.payloads.store(INPUT_PAYLOAD, slot, event.input);
  tasks.dedupe[slot] = claim(state, at, event);
  if (event.runAt > at) {
    wait(state, slot, { until: event.runAt, reason: DELAYED_REASON });
  } else {
    enqueue(state, slot, { at, reason: SUBMITTED_REASON, toHead: false });
  }
  state.nextTask = (event.task + 1) as typeof state.nextTask;
}

/** Answers what the task's column says of its key. */
function claim(state: State, at: number, { dedupe, task }: TaskSubmitted): number {
  if (dedupe.windowMs === 0) return 0;
  const entry = state.dedupe.add(dedupe, task, at);
  state.changes.noteKey(entry);
  return entry + 1;
}

function applyAttemptLeased(state: State, at: number, event: AttemptLeased): void {
  const { tasks, holders } = state;
  const { slot } = event;
  state.queues[tasks.queue[slot]].remove(slot, tasks.priority[slot]);
  const holder = holders.intern(event.session, event.worker, event.leaseMs);
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
}

function applyAttemptSucceeded(state: State, at: number, event: AttemptSucceeded): void {
  state.payloads.store(RESULT_PAYLOAD, event.slot, event.output);
  state.tasks.answered[event.slot] = SUCCEEDED_ANSWER;
  finish(state, event.slot, { at, taskState: SUCCEEDED, reason: SUCCEEDED_REASON });
}

function applyAttemptFailed(state: State, at: number, event: AttemptFailed): void {
  const { tasks } = state;
  const { slot } = event;
  state.payloads.store(RESULT_PAYLOAD, slot, event.error);
  tasks.answered[slot] = FAILED_ANSWER;
  if (event.retryAt === 0) {
    finish(state, slot, { at, taskState: FAILED, reason: FAILED_REASON });
    return;
  }
  state.holders.letGo(tasks.holderOf(slot), slot);
  tasks.endedAt[slot] = at;
  wait(state, slot, { until: event.retryAt, reason: BACKOFF_REASON });
}

function applyAttemptReturned(state: State, at: number, event: AttemptReturned): void {
  const { tasks } = state;
  const { slot } = event;
  state.holders.letGo(tasks.holderOf(slot), slot);
  tasks.endedAt[slot] = at;
  if (!event.spent) tasks.attempt[slot] -= 1;
  enqueue(state, slot, { at, reason: event.reason, toHead: true });
}

function applyTaskForgotten(state: State, event: TaskForgotten): void {
  const { tasks } = state;
  const { slot } = event;
  state.finished.remove(slot);
  if (tasks.lease[slot] !== NO_LEASE) state.holders.forget(tasks.holderOf(slot));
  const key = tasks.dedupe[slot] - 1;
  // The key outlives the task, and has to say how it ended.
  if (key >= 0 && state.dedupe.task[key] === event.task) {
    state.dedupe.lastState[key] = tasks.state[slot];
    state.changes.noteKey(key);
  }
  state.retries.release(tasks.retry[slot]);
  state.payloads.releaseAll(slot);
  tasks.free(slot);
}

function finish(
  state: State,
  slot: Slot,
  end: { readonly at: number; readonly taskState: number; readonly reason: number },
): void {
  const { tasks } = state;
  state.holders.letGo(tasks.holderOf(slot), slot);
  tasks.state[slot] = end.taskState;
  tasks.reason[slot] = end.reason;
  tasks.endedAt[slot] = end.at;
  state.finished.append(slot);
}

/**
 * The one way into a queue: to the tail of the task's level, or to its head when its lease ended
 * without an answer. The task has no timer while it is queued, so that its column holds since when
 * it waits there.
 */
function enqueue(
  state: State,
  slot: Slot,
  how: { readonly at: number; readonly reason: number; readonly toHead: boolean },
): void {
  const { tasks } = state;
  const queue = state.queues[tasks.queue[slot]];
  tasks.state[slot] = QUEUED;
  tasks.reason[slot] = how.reason;
  tasks.dueAt[slot] = how.at;
  if (how.toHead) queue.prepend(slot, tasks.priority[slot]);
  else queue.append(slot, tasks.priority[slot]);
}

/** The task is out of every queue until its time comes. */
function wait(
  state: State,
  slot: Slot,
  { until, reason }: { readonly until: number; readonly reason: number },
): void {
  state.tasks.state[slot] = WAITING;
  state.tasks.reason[slot] = reason;
  state.tasks.dueAt[slot] = until;
  state.timers.add(slot);
}
