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

/** The rule allows less than one round. The rest covers what the log does not show. */
const ROUNDS = 2;

/**
 * I14: with ageing no ready task starves.
 *
 * One of every `agedLeaseEvery` leases of a session goes to the oldest task that has waited long
 * and that the session may take. So a session never spends a whole round of leases on tasks that
 * are newer than one that it could take. Each round removes one of the tasks that are older than a
 * given task, and their number does not grow. So a task gets its turn after at most as many rounds
 * as there are older tasks.
 *
 * Cases in which the session has no choice are left out: room that is reserved for a task, and
 * tasks that the session refused. A lane holds tasks with the same priority and shape, and only its
 * first task counts. A task that returned to the head hides those behind it until it has its turn.
 */
export class Starvation implements StoryRule {
  private readonly story: LogStory;
  private readonly sessions: SessionStories;
  private readonly ageing: Ageing;
  /** Leases in a row that each session gave to newer tasks while it could take an older one. */
  private readonly passed = new Map<string, number>();
  /** All tasks that each session ever refused. */
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

  /** A lost session that returns under the same id starts from zero. */
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

  /** The oldest task that waited long enough and that the session could take now. */
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
