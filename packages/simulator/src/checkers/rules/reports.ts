import type { Event, Report } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { isHeld, leaseText, namespaceOf, type TaskStory } from '../story/task-story.ts';
import { finalAnswer, isLogged } from './report-kinds.ts';

/** Events that a report may cause. */
const EFFECTS: readonly Event['type'][] = [
  'attempt_started',
  'attempt_succeeded',
  'attempt_deferred',
  'attempt_failed',
  'attempt_timed_out',
  'attempt_returned',
];

type Reports = Extract<ToldCommand['command'], { type: 'report_attempts' }>;

/**
 * I5: a report has an effect only with the current lease, from the session that holds it.
 * I6: the same report again is answered `duplicate` and has none.
 *
 * Reports are processed in order, and so are their events. Each report is judged by the state that
 * the log told just before it.
 */
export class ReportsTaken implements StoryRule {
  private readonly story: LogStory;
  /** The newest lease of each task, by its token. */
  private readonly byLease = new Map<string, TaskStory>();
  private next = 0;

  constructor(story: LogStory) {
    this.story = story;
  }

  begins(): void {
    this.next = 0;
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    const { command } = told;
    if (command.type === 'report_attempts' && task !== undefined && isEffect(event, task)) {
      const place = this.judgeUpTo(command, told, (report) => report.lease === leaseText(task));
      const kind = place < 0 ? 'nothing' : command.reports[place].kind;
      const { simulation } = this.story;
      const isRight = event.type === 'attempt_started' ? kind === 'started' : finalAnswer(kind) > 0;
      simulation.check(isRight, 'I5', `${event.type} of task ${task.number} by ${kind}`);
      const isWhole = event.type !== 'attempt_succeeded' || kind === 'succeeded';
      simulation.check(isWhole, 'I5', `task ${task.number} succeeds by ${kind}`);
    }
    if (event.type === 'attempt_leased' && task !== undefined) {
      if (command.type === 'report_attempts') this.judgeUpTo(command, told, () => false);
      const { slot, lease: number } = event;
      this.byLease.delete(leaseText(task));
      this.byLease.set(leaseText({ slot, lease: number }), task);
    } else if (event.type === 'task_forgotten' && task !== undefined) {
      this.byLease.delete(leaseText(task));
    }
  }

  ends(told: ToldCommand): void {
    if (told.command.type === 'report_attempts') {
      this.judgeUpTo(told.command, told, () => false);
    }
  }

  /** Judges reports without an effect, up to the one that is searched for; returns its position. */
  private judgeUpTo(
    command: Reports,
    { reply }: ToldCommand,
    isWanted: (report: Report) => boolean,
  ): number {
    const { outcomes } = reply as { readonly outcomes: readonly string[] };
    while (this.next < command.reports.length) {
      const place = this.next++;
      const report = command.reports[place];
      const outcome = outcomes[place];
      const hasEffect = outcome === 'ok' && isLogged(report.kind);
      this.judge(command, report, outcome);
      if (hasEffect && isWanted(report)) return place;
      this.story.simulation.check(!hasEffect, 'I6', () => {
        return `${report.kind} with ${report.lease} is taken, and nothing happens`;
      });
    }
    return -1;
  }

  private judge({ session, namespace }: Reports, report: Report, outcome: string): void {
    const task = this.byLease.get(report.lease);
    const isOwn = task?.session === session && namespaceOf(task) === namespace;
    const expected = task !== undefined && isOwn ? outcomeOf(task, report) : 'stale_lease';
    const rule = expected === 'duplicate' ? 'I6' : 'I5';
    this.story.simulation.check(outcome === expected, rule, () => {
      return `${report.kind} with ${report.lease} of ${session} is ${outcome}, not ${expected}`;
    });
  }
}

/** The report must carry the newest lease of the task. */
function outcomeOf(task: TaskStory, { kind }: Report): string {
  if (isHeld(task)) return kind === 'started' && task.phase === 'running' ? 'duplicate' : 'ok';
  const wasTaken = kind === 'started' ? task.answer !== 0 : task.answer === finalAnswer(kind);
  return wasTaken && isLogged(kind) ? 'duplicate' : 'stale_lease';
}

/**
 * Whether a report caused the event. A held task that ends was being cancelled. Other tasks that
 * end may just be overdue.
 */
function isEffect(event: Event, task: TaskStory): boolean {
  return EFFECTS.includes(event.type) || (event.type === 'task_ended' && isHeld(task));
}
