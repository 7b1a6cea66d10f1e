import { type Event, REASONS } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { SessionStories } from '../story/session-stories.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { leaseText, type TaskStory } from '../story/task-story.ts';

/**
 * I27: a lease is lost only when its session was silent for as long as it may be, and not before
 * the grace period after a restart is over. A worker that comes back keeps every lease that it
 * lists, and is told which of them it no longer has. So a restart alone runs nothing twice.
 */
export class Grace implements StoryRule {
  private readonly story: LogStory;
  private readonly sessions: SessionStories;
  /** The tasks that a returning worker holds before the command. */
  private heldBefore: readonly TaskStory[] = [];

  constructor(story: LogStory, sessions: SessionStories) {
    this.story = story;
    this.sessions = sessions;
  }

  begins({ command, reply }: ToldCommand): void {
    this.heldBefore = [];
    if (command.type !== 'attach_session' || command.resume === undefined) return;
    const { rejection, lost } = reply as { rejection?: string; lost: readonly string[] };
    if (rejection !== undefined) return;
    this.heldBefore = [...this.story.heldBy(command.resume.session)];
    const current = new Set(this.heldBefore.map(leaseText));
    const expected = command.resume.running.filter((lease) => !current.has(lease));
    this.story.simulation.check(lost.join() === expected.join(), 'I27', () => {
      return `${command.resume?.session} is told that it lost ${lost}, and it lost ${expected}`;
    });
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    if (task === undefined) return;
    const { command } = told;
    if (event.type === 'attempt_returned' && REASONS[event.reason] === 'not_arrived') {
      const listed = command.type === 'attach_session' ? (command.resume?.running ?? []) : [];
      this.story.simulation.check(!listed.includes(leaseText(task)), 'I27', () => {
        return `task ${task.number} never arrived, and ${task.session} lists it`;
      });
    } else if (command.type === 'expire_sessions' && ENDS.includes(event.type)) {
      this.lost(task, told.at);
    }
  }

  /** A lease that the worker does not list never arrived, so its task is returned immediately. */
  ends({ command }: ToldCommand): void {
    if (command.type !== 'attach_session' || this.heldBefore.length === 0) return;
    const listed = new Set(command.resume?.running);
    for (const task of this.heldBefore) {
      if (listed.has(leaseText(task))) continue;
      const isKept = task.phase === 'running' || task.phase === 'leased';
      const isAgain = task.leasedAt === this.story.now;
      this.story.simulation.check(!isKept || isAgain, 'I27', () => {
        return `task ${task.number} stays with ${task.session}, which does not list it`;
      });
    }
  }

  private lost(task: TaskStory, at: number): void {
    const session = this.sessions.get(task.session);
    if (session === undefined) return;
    const { heardAt, heldSince, leaseMs, graceUntil } = session;
    const lostAt = Math.max(heardAt + leaseMs, heldSince + leaseMs, graceUntil);
    this.story.simulation.check(at >= lostAt, 'I27', () => {
      return `task ${task.number} is taken from ${session.id} at ${at}, before ${lostAt}`;
    });
  }
}

/** Events that show the loss of a session. Cancelled and overdue tasks may end by other events. */
const ENDS: readonly Event['type'][] = ['attempt_returned', 'attempts_exhausted'];
