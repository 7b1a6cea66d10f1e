import { type Event, REASONS, type Report } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import { attemptsMax, backoffRange } from '../story/policies.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { leaseText, type TaskStory } from '../story/task-story.ts';
import { finalAnswer } from './report-kinds.ts';

type Failed = Extract<Event, { type: 'attempt_failed' | 'attempt_timed_out' }>;

/** Why an attempt is returned: the command that returns it, and whether the attempt counts. */
const RETURNS: { readonly [reason: string]: { readonly by: string; readonly spent: boolean } } = {
  worker_lost: { by: 'expire_sessions', spent: true },
  handed_back: { by: 'detach_session', spent: false },
  not_arrived: { by: 'attach_session', spent: false },
  refused: { by: 'report_attempts', spent: false },
};

const NO_WAIT = { least: 0, most: 0 };

/**
 * I17: a task has at most as many attempts as its policy allows, and all of them. One that was
 * refused, handed back or never arrived does not count; one of a lost worker does. The policy or
 * the worker sets the wait before the next attempt.
 */
export class Attempts implements StoryRule {
  private readonly story: LogStory;

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    if (task === undefined) return;
    switch (event.type) {
      case 'attempt_leased':
        return this.check(task.attempt < attemptsMax(task.retry), task, 'gets one more');
      case 'attempt_failed':
      case 'attempt_timed_out':
        return this.failed(event, task, told);
      case 'attempt_returned':
      case 'attempts_exhausted':
        return this.returned(event, task, told);
      default:
        return;
    }
  }

  private failed(event: Failed, task: TaskStory, { command, at }: ToldCommand): void {
    const { retryAt } = event;
    const token = leaseText(task);
    const reports = command.type === 'report_attempts' ? command.reports : [];
    const report = reports.find(({ lease, kind }) => {
      return lease === token && finalAnswer(kind) === event.answer;
    });
    const hasNext = task.attempt < attemptsMax(task.retry) && report?.retryable !== false;
    this.check(hasNext === (retryAt !== 0), task, () => {
      return retryAt === 0 ? 'is given up too early' : 'is tried once too often';
    });
    if (!hasNext) return;
    const { least, most } = this.waitOf(task, report);
    this.check(retryAt >= at + least && retryAt <= at + most, task, () => {
      return `waits for ${retryAt - at} ms, and not for ${least} to ${most}`;
    });
  }

  private waitOf(task: TaskStory, report: Report | undefined): { least: number; most: number } {
    const { retryAfterMs } = report ?? {};
    if (retryAfterMs === undefined) return backoffRange(task.retry, task.attempt);
    return { least: retryAfterMs, most: retryAfterMs };
  }

  private returned(
    event: Extract<Event, { type: 'attempt_returned' | 'attempts_exhausted' }>,
    task: TaskStory,
    { command, at }: ToldCommand,
  ): void {
    const reason = REASONS[event.reason];
    const rule = RETURNS[reason];
    this.check(rule?.by === command.type, task, () => `comes back by ${command.type}: ${reason}`);
    const isLast = task.attempt >= attemptsMax(task.retry);
    if (event.type === 'attempts_exhausted') {
      return this.check(isLast && rule.spent, task, () => `is given up too early: ${reason}`);
    }
    this.check(event.spent === rule.spent, task, () => {
      return `${event.spent ? 'spends' : 'keeps'} an attempt: ${reason}`;
    });
    this.check(!rule.spent || !isLast, task, () => `is tried once too often: ${reason}`);
    const { least, most } = rule.spent ? backoffRange(task.retry, task.attempt) : NO_WAIT;
    const waitMs = event.retryAt === 0 ? 0 : event.retryAt - at;
    this.check(waitMs >= least && waitMs <= most, task, () => {
      return `waits for ${waitMs} ms, and not for ${least} to ${most}: ${reason}`;
    });
  }

  private check(holds: boolean, task: TaskStory, what: string | (() => string)): void {
    this.story.simulation.check(holds, 'I17', () => {
      const { number, attempt } = task;
      return `task ${number} after attempt ${attempt} ${typeof what === 'string' ? what : what()}`;
    });
  }
}
