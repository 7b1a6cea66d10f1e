import { type Event, taskIdText } from '@sluice/core';
import type { SubmitOutcome } from '@sluice/sdk/logic';
import type { CallWatch } from '../clients/sdk-client.ts';
import type { LogStory } from './story/log-story.ts';
import type { StoryRule, ToldCommand } from './story/story-rule.ts';
import { type TaskStory, textOf } from './story/task-story.ts';

/**
 * What callers of the SDK are promised, whatever happened on the way:
 * I7: a task is stored once, however often it was sent (submit.stored-once).
 * I1: one that was submitted is there under the id that its caller has, with its own input.
 * I2: of a call that was refused nothing is ever stored, and of any other all or nothing
 * (submit.whole-call).
 */
export class SdkCalls implements StoryRule, CallWatch {
  private readonly story: LogStory;
  /** The call of each task, by the number in the task's input. */
  private readonly calls = new Map<number, Call>();
  /** Stored tasks, by the same number. */
  private readonly stored = new Map<number, Stored>();

  constructor(story: LogStory) {
    this.story = story;
  }

  called(numbers: readonly number[]): void {
    const call: Call = { numbers, outcome: undefined, isRepeated: false };
    for (const number of numbers) this.calls.set(number, call);
  }

  /** One of two copies may be refused and the other accepted. The SDK cannot know that. */
  repeated(numbers: readonly number[]): void {
    for (const number of numbers) {
      const call = this.calls.get(number);
      if (call !== undefined) call.isRepeated = true;
    }
  }

  heard(numbers: readonly number[], outcome: SubmitOutcome): void {
    const call = this.calls.get(numbers[0]);
    if (call === undefined) return;
    call.outcome = outcome.type;
    if (outcome.type === 'refused' && !call.isRepeated) {
      const kept = numbers.filter((number) => this.stored.has(number));
      this.check(kept.length === 0, 'I2', `a call was refused, and ${kept} of it are stored`);
    }
    if (outcome.type !== 'submitted') return;
    const ids = outcome.tasks.map(({ id }) => id);
    const expected = numbers.map((number) => this.stored.get(number)?.id);
    this.check(ids.join() === expected.join(), 'I1', () => {
      return `a caller hears of ${ids}, and its tasks are ${expected}`;
    });
  }

  event(event: Event, _task: TaskStory | undefined, { at, executedAt }: ToldCommand): void {
    if (event.type !== 'task_submitted') return;
    const number = Number(/^\{"n":(\d+)/.exec(textOf(event.input))?.[1]);
    const call = this.calls.get(number);
    if (call === undefined) return;
    const before = this.stored.get(number);
    // If the clock is set forward, a dedupe window ends early.
    const passedMs = before === undefined ? 0 : executedAt - before.executedAt;
    const isClockSet = before !== undefined && at - before.at > passedMs + CLOCK_MS_MAX;
    this.check(before === undefined || isClockSet, 'I7', () => {
      return `task ${event.task} was stored before, as ${before?.id}`;
    });
    const isRefused = call.outcome === 'refused' && !call.isRepeated;
    this.check(!isRefused, 'I2', `task ${event.task} is of a call that was refused`);
    const id = taskIdText({ submittedAt: at, partition: 0, number: event.task });
    this.stored.set(number, { id, at, executedAt });
  }

  /** A call that is unfinished or was given up is stored completely or not at all. */
  ended(): void {
    for (const { numbers } of this.calls.values()) {
      const kept = numbers.filter((number) => this.stored.has(number)).length;
      this.check(kept === 0 || kept === numbers.length, 'I2', () => {
        return `of a call with ${numbers.length} tasks ${kept} are stored`;
      });
    }
  }

  private check(holds: boolean, rule: string, what: string | (() => string)): void {
    this.story.simulation.check(holds, rule, what);
  }
}

interface Stored {
  readonly id: string;
  /** The partition's time, and the world's time. */
  readonly at: number;
  readonly executedAt: number;
}

/** Two clocks that were not set differ by less than this. */
const CLOCK_MS_MAX = 10_000;

interface Call {
  readonly numbers: readonly number[];
  outcome: SubmitOutcome['type'] | undefined;
  isRepeated: boolean;
}
