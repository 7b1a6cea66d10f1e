import {
  DEFERRED,
  type Event,
  FAILED,
  LEASED,
  NO_SLOT,
  PATCHED_RUN_AT,
  PAUSED,
  QUEUED,
  REASONS,
  type ReadonlyState,
  RUNNING,
  readEvents,
  SUCCEEDED,
  TASK_STATES,
  type TaskNumber,
  TIMED_OUT,
  WAITING,
} from '@sluice/core';
import type { TaskChange } from '../operators/operator-types.ts';
import { UTF8 } from './server/payloads.ts';
import { taskIdOf } from './server/task-views.ts';

type ReasonName = (typeof REASONS)[number];

/** The state that an event leads to, and why. */
type Move = readonly [to: number, reason: ReasonName];

/** What is known of a task before the next event. */
interface Known {
  state: number;
  attempt: number;
}

/** Turns the events of the core into changes of tasks, as the server's projection does. */
export class TaskChanges {
  private readonly state: ReadonlyState;
  private readonly known = new Map<number, Known>();

  /** From here on it must read every batch. */
  constructor(state: ReadonlyState) {
    this.state = state;
    const { tasks } = state;
    for (let slot = 0; slot < tasks.used; slot++) {
      if (tasks.number[slot] === 0) continue;
      const known = { state: tasks.state[slot], attempt: tasks.attempt[slot] };
      this.known.set(tasks.number[slot], known);
    }
  }

  /** The changes in a batch. The state is already that after it. */
  read(batch: Uint8Array): TaskChange[] {
    const changes: TaskChange[] = [];
    readEvents(batch, UTF8, (event, at) => {
      const change = event.task === 0 ? undefined : this.changeBy(event, at);
      if (change !== undefined) changes.push(change);
    });
    return changes;
  }

  private changeBy(event: Event, at: number): TaskChange | undefined {
    const slot = this.state.tasks.find(event.task as TaskNumber);
    const before = this.known.get(event.task);
    const move = this.moveBy(event, at, before?.state);
    if (move === undefined || slot === NO_SLOT) return undefined;
    const [to, reason] = move;
    const attempt = attemptAfter(event, before?.attempt ?? 0);
    this.known.set(event.task, { state: to, attempt });
    return {
      task: taskIdOf(this.state, slot),
      type: this.state.typeOf(slot),
      from: before === undefined ? null : TASK_STATES[before.state],
      to: TASK_STATES[to],
      reason,
      attempt,
      at: new Date(at).toISOString(),
    };
  }

  private moveBy(event: Event, at: number, before: number | undefined): Move | undefined {
    switch (event.type) {
      case 'task_submitted':
      case 'step_submitted':
        return event.runAt > at ? [WAITING, 'delayed'] : [QUEUED, 'submitted'];
      case 'task_due':
        return [QUEUED, 'due'];
      case 'task_paused':
        return [PAUSED, 'paused'];
      case 'task_resumed':
        return [this.waitsNow(event.task) ? WAITING : QUEUED, 'resumed'];
      case 'task_retried':
        return [QUEUED, event.redrive === 0 ? 'retried' : 'redriven'];
      case 'task_ended':
        return [event.state, REASONS[event.reason]];
      case 'task_patched':
        if ((event.fields & PATCHED_RUN_AT) === 0 || before === PAUSED) return undefined;
        if (event.runAt > at) return [WAITING, 'delayed'];
        return before === QUEUED ? undefined : [QUEUED, 'rescheduled'];
      default:
        return attemptMove(event);
    }
  }

  private waitsNow(task: number): boolean {
    const { tasks } = this.state;
    const slot = tasks.find(task as TaskNumber);
    return slot !== NO_SLOT && tasks.state[slot] === WAITING;
  }
}

function attemptMove(event: Event): Move | undefined {
  switch (event.type) {
    case 'attempt_leased':
      return [LEASED, 'leased'];
    case 'attempt_started':
      return [RUNNING, 'started'];
    case 'attempt_succeeded':
      return [SUCCEEDED, 'succeeded'];
    case 'attempt_deferred':
      return [DEFERRED, 'later'];
    case 'attempt_failed':
      return event.retryAt === 0 ? [FAILED, 'failed'] : [WAITING, 'backoff'];
    case 'attempt_timed_out':
      return [event.retryAt === 0 ? TIMED_OUT : WAITING, REASONS[event.reason]];
    case 'attempt_returned':
      return [QUEUED, REASONS[event.reason]];
    case 'attempts_exhausted':
      return [FAILED, REASONS[event.reason]];
    default:
      return undefined;
  }
}

function attemptAfter(event: Event, attempt: number): number {
  if (event.type === 'attempt_leased') return attempt + 1;
  if (event.type === 'task_retried') return 0;
  return event.type === 'attempt_returned' && !event.spent ? attempt - 1 : attempt;
}
