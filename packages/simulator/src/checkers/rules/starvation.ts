import { type Event, REASONS, type Replies } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import { lackingKind, meets, needsOf } from '../story/policies.ts';
import type { SessionStories, SessionStory } from '../story/session-stories.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import type { TaskStory } from '../story/task-story.ts';

export interface Ageing {
  readonly ageAfterMs: number;
  readonly agedLeaseEvery: number;
}

/** The rule allows less than one round; the rest is for what the log does not show. */
const ROUNDS = 2;

/**
 * I14: with ageing no ready task starves.
 *
 * By the rules of matching one of every so many leases of a session goes to the task that waited
 * longest, of those that waited long and that the session may take. So a session never gives a
 * whole round of leases to tasks that came later than one that it could have taken instead. Each
 * round takes one away from those that came before a task, and their number does not grow: it has
 * its turn after as many rounds as there are such tasks, at the most.
 *
 * Left out is what takes a session's choice away: room that is kept for a task, and what it refused
 * itself. Of a lane, which holds tasks that are alike, only the first counts: one that came back to
 * its head hides those behind it until it has its turn.
 */
export class Starvation implements StoryRule {
  private readonly story: LogStory;
  private readonly sessions: SessionStories;
  private readonly ageing: Ageing;
  /** Leases in a row that each session gave to tasks that came later than one it could take. */
  private readonly passed = new Map<string, number>();
  /** What each session refused, ever. */
  private readonly refused = new Map<string, Set<TaskStory>>();

  constructor(story: LogStory, sessions: SessionStories, ageing: Ageing) {
    this.story = story;
    this.sessions = sessions;
    this.ageing = ageing;
  }

  begins({ command, reply }: ToldCommand): void {
    if (command.type === 'attach_session') this.attached(reply as Replies['attach_session']);
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    if (task === undefined) return;
    if (event.type === 'attempt_leased') this.leased(task, event.session, told);
    if (event.type !== 'attempt_returned' || REASONS[event.reason] !== 'refused') return;
    const refused = this.refused.get(task.session) ?? new Set();
    this.refused.set(task.session, refused.add(task));
  }

  booted(): void {
    this.passed.clear();
  }

  /** One that was lost and comes back under its id begins anew. */
  private attached({ session, resumed }: Replies['attach_session']): void {
    if (!resumed) this.passed.delete(session);
  }

  private leased(task: TaskStory, id: string, { at, keeping }: ToldCommand): void {
    const session = this.sessions.get(id);
    if (session === undefined) return;
    const oldest = keeping.has(id) ? undefined : this.longestWaiting(session, at);
    const isPassed = oldest !== undefined && oldest.queuedSince < task.queuedSince;
    const passed = isPassed ? (this.passed.get(id) ?? 0) + 1 : 0;
    this.passed.set(id, passed);
    this.story.simulation.check(passed < ROUNDS * this.ageing.agedLeaseEvery, 'I14', () => {
      const waitedMs = at - (oldest?.queuedSince ?? at);
      return `${id} passes over task ${oldest?.number}, which waits for ${waitedMs} ms, ${passed} times`;
    });
  }

  /** Of those that waited long and that the session could take now. */
  private longestWaiting(session: SessionStory, at: number): TaskStory | undefined {
    let oldest: TaskStory | undefined;
    let since = at - this.ageing.ageAfterMs;
    const held = [...this.story.heldBy(session.id)];
    for (const [queue, lanes] of this.story.lanes) {
      const most = session.types.get(queue) ?? 0;
      if (held.filter((task) => task.queue === queue).length >= most) continue;
      if (this.story.pausedQueues.has(queue)) continue;
      for (const lane of lanes.values()) {
        const task = firstOf(lane);
        if (task === undefined || task.queuedSince > since) continue;
        if (!this.mayTake(session, held, task)) continue;
        oldest = task;
        since = task.queuedSince;
      }
    }
    return oldest;
  }

  private mayTake(session: SessionStory, held: readonly TaskStory[], task: TaskStory): boolean {
    if (this.refused.get(session.id)?.has(task) === true) return false;
    const needs = needsOf(task.shape);
    if (needs.constraints.some((constraint) => !meets(session.labels, constraint))) return false;
    const all = [...held.map(({ shape }) => needsOf(shape)), needs];
    return lackingKind(session.offer, all) === undefined;
  }
}

function firstOf(lane: Iterable<TaskStory>): TaskStory | undefined {
  let first: TaskStory | undefined;
  for (const task of lane) if (first === undefined || task.place < first.place) first = task;
  return first;
}
