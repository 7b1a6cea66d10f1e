import { type Event, REASONS, TASK_STATES } from '@sluice/core';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { LogStory } from '../story/log-story.ts';
import { timeoutsOf, totalDeadline } from '../story/policies.ts';
import type { SessionStories } from '../story/session-stories.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { isHeld, leaseText, type TaskStory } from '../story/task-story.ts';
import { BY_SCHEDULE } from './causes.ts';

type Stopping = Extract<Event, { type: 'attempt_stopping' }>;
type Ended = Extract<Event, { type: 'task_ended' }>;
type TimedOut = Extract<Event, { type: 'attempt_timed_out' }>;

/** The time that a worker gets to stop an attempt that timed out. */
const GRACE_MS = 10_000;

/**
 * I18: nothing that waits for a time happens before it, by the partition's clock: delays, backoff,
 * the end of a grace period, the next task of a redrive.
 * I20: a task that takes too long ends as the contract says, and not before its time; one whose
 * time is up is not given to anybody.
 */
export class Timers implements StoryRule {
  private readonly story: LogStory;
  private readonly sessions: SessionStories;
  /** When the holder of a task last reported on it. */
  private readonly heardAt = new Map<TaskStory, number>();

  constructor(story: LogStory, sessions: SessionStories) {
    this.story = story;
    this.sessions = sessions;
  }

  begins({ command, reply, at }: ToldCommand): void {
    if (command.type === 'report_attempts') {
      const { outcomes } = reply as { readonly outcomes: readonly string[] };
      // A repeated start changes nothing, but the server heard from the worker.
      const named = command.reports.filter((_, place) => outcomes[place] !== 'stale_lease');
      const held = this.story.heldBy(command.session);
      for (const { lease } of named) this.hear(held, at, lease);
    } else if (command.type === 'attach_session' && command.resume !== undefined) {
      const isRefused = (reply as { readonly rejection?: string }).rejection !== undefined;
      if (!isRefused) this.hear(this.story.heldBy(command.resume.session), at);
    } else if (command.type === 'renew_sessions') {
      for (const held of this.story.held.values()) this.hear(held, at);
    }
  }

  booted(_partition: WatchedPartition): void {
    for (const [session, held] of this.story.held) {
      this.hear(held, this.sessions.get(session)?.graceUntil ?? 0);
    }
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    if (task === undefined) return;
    const { at } = told;
    switch (event.type) {
      case 'task_due':
        return this.check(at >= task.dueAt, 'I18', task, () => `is due at ${task.dueAt}`);
      case 'attempt_leased':
        this.heardAt.set(task, at);
        return this.leased(task, at);
      case 'attempt_stopping':
        return this.stopping(event, task, told);
      case 'attempt_timed_out':
        return this.timedOut(event, task, at);
      case 'task_ended':
        return this.endsInTime(event, task, told);
      default:
        return;
    }
  }

  private hear(tasks: Iterable<TaskStory>, at: number, lease?: string): void {
    for (const task of tasks) {
      if (lease === undefined || leaseText(task) === lease) this.heardAt.set(task, at);
    }
  }

  private leased(task: TaskStory, at: number): void {
    const queueAt = task.queuedSince + timeoutsOf(task.timeouts).queueMs;
    const overAt = Math.min(queueAt, totalDeadline(task));
    this.check(at < overAt, 'I20', task, () => `is leased, and its time was up at ${overAt}`);
  }

  private stopping(event: Stopping, task: TaskStory, { command, at }: ToldCommand): void {
    const reason = REASONS[event.reason];
    const { stoppingRuns, scheduledTasks } = this.story;
    const isBySchedule = scheduledTasks.has(task.number) && BY_SCHEDULE.includes(command.type);
    const isByRun = (stoppingRuns.has(task.run) || isBySchedule) && reason === 'cancelled';
    if (isByRun && task.stop !== reason) {
      const graceMs = command.type === 'cancel_tasks' ? 0 : GRACE_MS;
      return this.graceOf(event, task, { at, graceMs });
    }
    if (command.type === 'cancel_tasks') {
      this.check(reason === 'cancelled', 'I25', task, () => `is stopped: ${reason}`);
      return this.graceOf(event, task, { at, graceMs: command.graceMs });
    }
    this.graceOf(event, task, { at, graceMs: GRACE_MS });
    // A worker that could not be reached is asked again.
    if (task.stop === reason) {
      return this.check(at >= task.stopAt, 'I18', task, () => `is stopped again: ${reason}`);
    }
    this.check(task.stop === '', 'I20', task, () => `stops for ${task.stop}, then for ${reason}`);
    const { runMs, heartbeatMs } = timeoutsOf(task.timeouts);
    const heardAt = this.heardAt.get(task) ?? task.leasedAt;
    const byReason = new Map([
      ['run_timeout', task.leasedAt + runMs],
      ['heartbeat_timeout', heardAt + heartbeatMs],
    ]);
    const dueAt = byReason.get(reason) ?? Number.POSITIVE_INFINITY;
    this.check(at >= dueAt, 'I20', task, () => `is stopped at ${at}, not ${dueAt}: ${reason}`);
  }

  private graceOf(
    { stopAt }: Stopping,
    task: TaskStory,
    { at, graceMs }: { readonly at: number; readonly graceMs: number },
  ): void {
    this.check(stopAt >= at + graceMs, 'I20', task, () => {
      return `has ${stopAt - at} ms to stop, and not ${graceMs}`;
    });
  }

  private timedOut(event: TimedOut, task: TaskStory, at: number): void {
    const reason = REASONS[event.reason];
    if (task.phase === 'deferred') {
      const dueAt = task.leasedAt + timeoutsOf(task.timeouts).runMs;
      const isLate = reason === 'run_timeout' && at >= dueAt;
      return this.check(isLate, 'I20', task, () => `times out before ${dueAt}: ${reason}`);
    }
    this.check(task.stop === reason, 'I20', task, () => {
      return `times out for ${reason}, and was to stop for '${task.stop}'`;
    });
    const isRevoked = event.answer === 0;
    this.check(!isRevoked || at >= task.stopAt, 'I18', task, () => {
      return `is revoked at ${at}, before ${task.stopAt}`;
    });
  }

  private endsInTime(event: Ended, task: TaskStory, { command, at }: ToldCommand): void {
    const state = TASK_STATES[event.state];
    const reason = REASONS[event.reason];
    const { stoppingRuns, scheduledTasks } = this.story;
    const isStopped = stoppingRuns.has(task.run) || scheduledTasks.has(task.number);
    const isByRun = isStopped && !isHeld(task);
    if (state === 'cancelled' && command.type === 'advance_time' && !isByRun) {
      const isOver = task.stop === 'cancelled' && at >= task.stopAt;
      this.check(isOver, 'I18', task, () => `is revoked at ${at}, before ${task.stopAt}`);
    }
    if (state !== 'expired' && state !== 'timed_out') return;
    const isTotal = reason === 'total_timeout';
    const queueAt = task.queuedSince + timeoutsOf(task.timeouts).queueMs;
    const dueAt = isTotal ? totalDeadline(task) : queueAt;
    this.check(at >= dueAt, 'I20', task, () => `ends at ${at}, before ${dueAt}: ${reason}`);
    const isRun = isHeld(task) || task.phase === 'deferred';
    const isQueue = reason === 'queue_timeout' && task.phase === 'queued' && state === 'expired';
    const isRight = isTotal ? (state === 'timed_out') === isRun : isQueue;
    this.check(isRight, 'I20', task, () => `is ${task.phase} and ends as ${state}: ${reason}`);
  }

  private check(holds: boolean, rule: string, task: TaskStory, what: () => string): void {
    this.story.simulation.check(holds, rule, () => `task ${task.number} ${what()}`);
  }
}
