import { type Event, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { namespaceOf, type TaskStory } from '../story/task-story.ts';

/**
 * I39: a command has an effect on tasks, queues and types of its own namespace alone, and is not
 * even told that others exist.
 */
export class Namespaces implements StoryRule {
  private readonly story: LogStory;

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined, { command }: ToldCommand): void {
    if (!('namespace' in command) || isByTheWay(event)) return;
    if (task !== undefined && this.story.stoppingRuns.has(task.run)) return;
    const queue = 'taskType' in event ? event.taskType : task?.queue;
    if (queue === undefined || queue === '') return;
    this.story.simulation.check(namespaceOf({ queue }) === command.namespace, 'I39', () => {
      return `${command.type} in ${command.namespace} leads to ${event.type} in ${queue}`;
    });
  }

  ends({ command, reply }: ToldCommand): void {
    if (!('namespace' in command)) return;
    const ids = idsOf(command);
    const outcomes = (reply as { outcomes?: readonly Outcome[] }).outcomes ?? [reply as Outcome];
    ids.forEach((id, place) => {
      const task = this.story.get(id);
      if (task === undefined || namespaceOf(task) === command.namespace) return;
      this.story.simulation.check(outcomes[place].rejection === 'task_not_found', 'I39', () => {
        const { rejection = 'done' } = outcomes[place];
        return `${command.type} of ${id} in ${command.namespace} is answered ${rejection}`;
      });
    });
  }
}

interface Outcome {
  readonly rejection?: string;
}

function idsOf(command: ToldCommand['command']): readonly string[] {
  if ('ids' in command) return command.ids;
  if ('patches' in command) return command.patches.map(({ id }) => id);
  return 'id' in command ? [command.id] : [];
}

/**
 * Every command may free memory, and at its end it may grant or expire tasks and go on with runs,
 * in any namespace.
 */
function isByTheWay(event: Event): boolean {
  switch (event.type) {
    case 'task_forgotten':
    case 'dedupe_forgotten':
    case 'attempt_leased':
    case 'step_submitted':
      return true;
    case 'dead_letter_dropped':
      return event.isOverflow;
    case 'task_ended':
      return TASK_STATES[event.state] === 'expired';
    default:
      return false;
  }
}
