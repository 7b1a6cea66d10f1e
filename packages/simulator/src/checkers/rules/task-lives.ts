import { type Command, type Event, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { hasEnded, isDeadLetter, type TaskStory } from '../story/task-story.ts';

type Phases = readonly TaskStory['phase'][];

const HELD: Phases = ['leased', 'running'];
const IDLE: Phases = ['waiting', 'queued', 'paused'];

/** The phases in which each event may happen to a task. */
const HAPPENS_IN: { readonly [T in Event['type']]?: Phases } = {
  task_due: ['waiting'],
  task_patched: IDLE,
  task_paused: ['waiting', 'queued'],
  task_resumed: ['paused'],
  task_ended: [...IDLE, ...HELD, 'deferred'],
  task_retried: ['failed', 'timed_out', 'expired', 'cancelled'],
  attempt_leased: ['queued'],
  attempt_started: ['leased'],
  attempt_stopping: HELD,
  attempt_succeeded: HELD,
  attempt_used: HELD,
  attempt_deferred: HELD,
  attempt_failed: HELD,
  attempt_timed_out: [...HELD, 'deferred'],
  attempt_returned: HELD,
  attempts_exhausted: HELD,
};

const MAKE_TASKS: readonly string[] = ['submit_tasks', 'advance_time', 'trigger_schedule'];

/**
 * I2: every event is about a task that was submitted, once.
 * I3: a task ends once; only a retry, a redrive or a readmission brings it back, and not one that
 * succeeded. One that has not ended is never forgotten (I1).
 * I4: nothing happens to a lease that there is none of; nobody else gets a task that is held.
 * I37: a task keeps its slot for as long as it is in memory, and has it alone.
 */
export class TaskLives implements StoryRule {
  private readonly story: LogStory;
  /** Schedules make tasks, too; `schedules/fire-rules.ts` checks which. */
  private readonly hasSchedules: boolean;
  private lastTask = 0;
  private readonly slots = new Map<number, number>();

  constructor(story: LogStory, hasSchedules = false) {
    this.story = story;
    this.hasSchedules = hasSchedules;
  }

  event(event: Event, task: TaskStory | undefined, { command }: ToldCommand): void {
    if (event.type === 'task_submitted') this.submitted(event, command.type);
    else if (event.type === 'step_submitted') this.numbered(event);
    else if (event.type === 'run_started' || event.type === 'child_started') this.numberOf(event);
    else if (event.type === 'task_readmitted') this.readmitted(event, task);
    else if (event.type.startsWith('attempt') || event.type.startsWith('task_')) {
      if (event.type !== 'task_type_changed') this.happens(event, task, command);
    } else if (event.type === 'dead_letter_dropped') this.happens(event, task, command);
  }

  private submitted(event: Event, cause: string): void {
    const { simulation } = this.story;
    const mayMake = this.hasSchedules ? MAKE_TASKS : MAKE_TASKS.slice(0, 1);
    simulation.check(mayMake.includes(cause), 'I2', `${cause} makes task ${event.task}`);
    this.numbered(event);
  }

  private numbered(event: Event): void {
    this.numberOf(event);
    this.takeSlot(event.slot, event.task, event.type);
  }

  /** Runs and tasks have numbers of one sequence. */
  private numberOf({ task, type }: Event): void {
    this.story.simulation.check(task > this.lastTask, 'I2', () => {
      return `${type} of ${task} comes after ${this.lastTask}`;
    });
    this.lastTask = task;
  }

  private readmitted(event: Event, task: TaskStory | undefined): void {
    const isGone = task?.isForgotten === true && task.phase !== 'succeeded';
    this.story.simulation.check(isGone, 'I3', `task ${event.task} is readmitted`);
    this.takeSlot(event.slot, event.task, event.type);
  }

  private takeSlot(slot: number, task: number, type: string): void {
    this.story.simulation.check(!this.slots.has(slot), 'I37', () => {
      return `${type} puts task ${task} where ${this.slots.get(slot)} is, in slot ${slot}`;
    });
    this.slots.set(slot, task);
  }

  private happens(event: Event, task: TaskStory | undefined, cause: Command): void {
    const { simulation } = this.story;
    const { type, slot } = event;
    const what = () => `${type} for task ${event.task}`;
    simulation.check(task !== undefined, 'I2', () => `${what()}, which nobody submitted`);
    if (task === undefined) return;
    simulation.check(!task.isForgotten, 'I3', () => `${what()}, which left memory`);
    simulation.check(this.slots.get(slot) === task.number, 'I37', () => {
      return `${what()} in slot ${slot}, and it is in ${task.slot}`;
    });
    if (type === 'task_forgotten') this.forgotten(task);
    else if (type === 'dead_letter_dropped') {
      simulation.check(isDeadLetter(task), 'I3', () => `${what()}, which is ${task.phase}`);
    } else {
      const rule = hasEnded(task) ? 'I3' : 'I4';
      // A retry changes the input of an ended task (retry.patched-before).
      const isRetry = type === 'task_patched' && cause.type === 'retry_tasks';
      const isPossible = HAPPENS_IN[isRetry ? 'task_retried' : type]?.includes(task.phase) ?? false;
      simulation.check(isPossible, rule, () => `${what()}, which is ${task.phase}`);
    }
    if (type === 'task_ended') this.endsAs(event as Extract<Event, { type: 'task_ended' }>);
  }

  private forgotten(task: TaskStory): void {
    const isDone = hasEnded(task) && !isDeadLetter(task);
    this.story.simulation.check(isDone, 'I1', () => {
      return `task ${task.number} is forgotten while ${task.phase}`;
    });
    this.slots.delete(task.slot);
  }

  private endsAs({ task, state }: Extract<Event, { type: 'task_ended' }>): void {
    const name = TASK_STATES[state];
    const isEnd = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'].includes(name);
    this.story.simulation.check(isEnd, 'I3', `task ${task} ends as ${name}`);
  }
}
