import type { Event } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import { lackingKind, meets, needsOf } from '../story/policies.ts';
import { pushCost, type SessionStories, type SessionStory } from '../story/session-stories.ts';
import type { StoryRule } from '../story/story-rule.ts';
import { namespaceOf, type TaskStory } from '../story/task-story.ts';

/**
 * I16: a session has no more of a type than it takes at once.
 * I26: what is leased to a session is within its offer at each grant, its labels are what the task
 * asks for, and it is there: connected, not drained, not lost.
 * I39: it belongs to the namespace of the task.
 * I40: it is not too far behind in reading.
 */
export class Offers implements StoryRule {
  private readonly story: LogStory;
  private readonly sessions: SessionStories;
  private readonly unsentBytesMax: number;

  constructor(story: LogStory, sessions: SessionStories, unsentBytesMax: number) {
    this.story = story;
    this.sessions = sessions;
    this.unsentBytesMax = unsentBytesMax;
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (event.type !== 'attempt_leased' || task === undefined) return;
    const { simulation, pausedQueues } = this.story;
    const session = this.sessions.get(event.session);
    const isThere = session?.isConnected === true && !session.isDraining && !session.isOver;
    simulation.check(isThere, 'I26', () => {
      const known = session === undefined ? 'nobody knows' : `is ${JSON.stringify(session)}`;
      return `task ${task.number} goes to ${event.session}, which ${known}`;
    });
    if (session === undefined) return;
    const isPaused = pausedQueues.has(task.queue);
    simulation.check(!isPaused, 'I26', `task ${task.number} leaves its paused queue`);
    this.checkNamespace(session, task);
    this.checkRoom(session, task);
    const unsentBefore = session.unsentBytes - pushCost(task);
    simulation.check(unsentBefore < this.unsentBytesMax, 'I40', () => {
      return `task ${task.number} goes to ${session.id}, which has ${unsentBefore} bytes to read`;
    });
  }

  private checkNamespace({ id, namespace }: SessionStory, task: TaskStory): void {
    this.story.simulation.check(namespace === namespaceOf(task), 'I39', () => {
      return `task ${task.number} of ${task.queue} goes to ${id} of namespace ${namespace}`;
    });
  }

  private checkRoom(session: SessionStory, task: TaskStory): void {
    const { simulation } = this.story;
    const held = [...this.story.heldBy(session.id)];
    const most = session.types.get(task.queue) ?? 0;
    const ofType = held.filter(({ queue }) => queue === task.queue).length;
    simulation.check(ofType < most, 'I16', () => {
      return `${session.id} has ${ofType} of ${task.queue}, takes ${most}, gets ${task.number}`;
    });
    const needs = needsOf(task.shape);
    const lacking = lackingKind(session.offer, [...held.map(({ shape }) => needsOf(shape)), needs]);
    simulation.check(lacking === undefined, 'I26', () => {
      const offer = JSON.stringify(session.offer);
      return `task ${task.number} is too much ${lacking} for ${session.id}, which offers ${offer}`;
    });
    const unmet = needs.constraints.find((constraint) => !meets(session.labels, constraint));
    simulation.check(unmet === undefined, 'I26', () => {
      return `task ${task.number} goes to ${session.id}, which does not meet ${unmet}`;
    });
  }
}
