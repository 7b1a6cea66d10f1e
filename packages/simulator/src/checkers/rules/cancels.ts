import { type Event, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { isHeld, type TaskStory } from '../story/task-story.ts';

/** Events that may happen to a task between the request to cancel it and its end. */
const ALLOWED: readonly Event['type'][] = ['attempt_started', 'attempt_stopping', 'task_ended'];

/**
 * I25: from an acknowledged cancel on a task gets no lease, and ends as cancelled, whatever is
 * reported.
 */
export class Cancels implements StoryRule {
  private readonly story: LogStory;

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (task === undefined || !task.isCancelAsked || !isHeld(task)) return;
    const { simulation } = this.story;
    const what = () => `task ${task.number} is being cancelled, and then: ${event.type}`;
    simulation.check(ALLOWED.includes(event.type), 'I25', what);
    if (event.type !== 'task_ended') return;
    const state = TASK_STATES[event.state];
    simulation.check(state === 'cancelled', 'I25', () => `${what()} as ${state}`);
  }

  ends({ command, reply }: ToldCommand): void {
    if (command.type !== 'cancel_tasks') return;
    const { outcomes } = reply as { readonly outcomes: readonly { readonly rejection?: string }[] };
    command.ids.forEach((id, place) => {
      if (outcomes[place].rejection !== undefined) return;
      const task = this.story.get(id);
      const isStopping = task !== undefined && isHeld(task) && task.isCancelAsked;
      this.story.simulation.check(isStopping || task?.phase === 'cancelled', 'I25', () => {
        return `the cancel of ${id} is acknowledged, and it is ${task?.phase}`;
      });
    });
  }
}
