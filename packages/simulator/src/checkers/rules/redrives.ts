import type { Event } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { isDeadLetter, namespaceOf, type TaskStory } from '../story/task-story.ts';

interface Redrive {
  readonly namespace: string;
  /** Key of the only queue; empty for all queues. */
  readonly queue: string;
  readonly everyMs: number;
  readonly startedAt: number;
  done: number;
}

/** How far a delayed redrive may catch up. */
const CATCH_UP_MS = 50;

/**
 * I18: a redrive runs no more tasks in any time than its rate allows.
 * I3: only dead letters that were there when it began. I39: only those of its scope.
 */
export class RedriveRates implements StoryRule {
  private readonly story: LogStory;
  private readonly redrives = new Map<number, Redrive>();

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined, { at }: ToldCommand): void {
    if (event.type === 'redrive_started') {
      const { namespace, taskType: queue, ratePer1000Sec, redrive } = event;
      const everyMs = 1_000_000 / ratePer1000Sec;
      this.redrives.set(redrive, { namespace, queue, everyMs, startedAt: at, done: 0 });
    } else if (event.type === 'redrive_ended') this.redrives.delete(event.redrive);
    else if (event.type === 'task_retried' && event.redrive !== 0 && task !== undefined) {
      this.redriven(event.redrive, task, at);
    }
  }

  private redriven(number: number, task: TaskStory, at: number): void {
    const { simulation } = this.story;
    const redrive = this.redrives.get(number);
    const what = `redrive ${number} runs task ${task.number} again`;
    simulation.check(redrive !== undefined, 'I42', `${what}, and nobody started it`);
    if (redrive === undefined) return;
    redrive.done += 1;
    const most = 1 + (at - redrive.startedAt + CATCH_UP_MS) / redrive.everyMs;
    simulation.check(redrive.done <= most, 'I18', () => `${what}: ${redrive.done} of ${most}`);
    const wasDead = isDeadLetter(task) && task.endedAt <= redrive.startedAt;
    simulation.check(wasDead, 'I3', () => `${what}: ${task.phase} since ${task.endedAt}`);
    const isInScope = redrive.queue === '' || redrive.queue === task.queue;
    const isOwn = namespaceOf(task) === redrive.namespace;
    simulation.check(isInScope && isOwn, 'I39', () => `${what} of ${task.queue}`);
  }
}
