import type { Event } from '@sluice/core';
import { EventStreamParser } from '@sluice/sdk';
import type { Checker } from './checker.ts';
import type { LogStory } from './story/log-story.ts';
import type { StoryRule } from './story/story-rule.ts';
import { leaseText, type TaskStory } from './story/task-story.ts';

/** A lease as the log tells of it. */
interface Lease {
  readonly task: TaskStory;
  readonly session: string;
  readonly attempt: number;
  readonly input: string;
}

interface Pushed {
  readonly id: string;
  readonly lease: string;
  readonly attempt: number;
  readonly type: string;
  readonly input: unknown;
}

/**
 * What workers are told, on the stream of each session:
 * I29: only leases that are durable. I4: only to the session that has them, with the attempt and
 * the task that the log says. I3: with the input as it was submitted.
 */
export class Pushes implements Checker, StoryRule {
  readonly name = 'pushes';
  private readonly story: LogStory;
  private readonly leases = new Map<string, Lease>();
  private readonly parsers = new WeakMap<object, EventStreamParser>();
  private readonly sessions = new WeakMap<object, string>();

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (event.type !== 'attempt_leased' || task === undefined) return;
    const { session, slot, lease } = event;
    const { input, attempt } = task;
    this.leases.set(leaseText({ slot, lease }), { task, session, attempt: attempt + 1, input });
  }

  written(stream: object, bytes: Uint8Array): void {
    let parser = this.parsers.get(stream);
    if (parser === undefined) {
      parser = new EventStreamParser(({ name, data }) => this.told(stream, name, JSON.parse(data)));
      this.parsers.set(stream, parser);
    }
    parser.push(bytes);
  }

  private told(stream: object, name: string, data: unknown): void {
    if (name === 'welcome') {
      this.sessions.set(stream, (data as { readonly sessionId: string }).sessionId);
    } else if (name === 'tasks') {
      for (const pushed of data as readonly Pushed[]) this.pushed(stream, pushed);
    } else if (name === 'cancel' || name === 'signal') {
      this.leaseOf(stream, data as Pushed);
    }
  }

  private pushed(stream: object, pushed: Pushed): void {
    const lease = this.leaseOf(stream, pushed);
    if (lease === undefined) return;
    const { task, attempt, input } = lease;
    this.check(pushed.attempt === attempt, 'I4', () => {
      return `task ${task.number} is pushed as attempt ${pushed.attempt}, and it is ${attempt}`;
    });
    this.check(task.queue.endsWith(pushed.type), 'I4', () => {
      return `task ${task.number} of ${task.queue} is pushed as ${pushed.type}`;
    });
    const text = pushed.input === null ? '' : JSON.stringify(pushed.input);
    this.check(text === input, 'I3', () => {
      return `task ${task.number} is pushed with ${text.slice(0, 99)}, not ${input.slice(0, 99)}`;
    });
  }

  private leaseOf(stream: object, { id, lease: token }: Pushed): Lease | undefined {
    const lease = this.leases.get(token);
    const session = this.sessions.get(stream);
    this.check(lease !== undefined, 'I29', () => {
      return `${session} hears of ${token} for ${id}, and the log knows nothing of it`;
    });
    if (lease === undefined) return undefined;
    this.check(lease.session === session && lease.task.id === id, 'I4', () => {
      return `${session} hears of ${token} for ${id}: it is ${lease.task.id} of ${lease.session}`;
    });
    return lease;
  }

  private check(holds: boolean, rule: string, what: () => string): void {
    this.story.simulation.check(holds, rule, what);
  }
}
