import type { Event } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule } from '../story/story-rule.ts';

/** I4: lease numbers grow, over all tasks and restarts. (Who may get one: see `TaskLives`.) */
export class Leases implements StoryRule {
  private readonly story: LogStory;
  private lastLease = 0;

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event): void {
    if (event.type !== 'attempt_leased') return;
    const { lease, task } = event;
    this.story.simulation.check(lease > this.lastLease, 'I4', () => {
      return `task ${task} gets lease ${lease} after ${this.lastLease}`;
    });
    this.lastLease = lease;
  }
}
