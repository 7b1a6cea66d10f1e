import type { Event } from '@sluice/core';
import { EventStreamParser } from '@sluice/sdk/logic';
import type { Checker } from './story/checker.ts';
import type { LogStory } from './story/log-story.ts';
import type { SessionStories } from './story/session-stories.ts';
import type { StoryRule, ToldCommand } from './story/story-rule.ts';
import { isHeld, leaseText, type TaskStory } from './story/task-story.ts';

/** A lease, as the log describes it. */
interface Lease {
  readonly task: TaskStory;
  readonly session: string;
  readonly attempt: number;
  readonly input: string;
}

interface Stop {
  readonly task: TaskStory;
  readonly session: string;
  since: number;
}

/** A running server has written a stop to the stream within this time. */
const TOLD_WITHIN_MS = 2000;

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
 * the task that the log says. I3: with the input as it was submitted. I25: that an attempt has to
 * stop, soon, if they have a stream.
 */
export class Pushes implements Checker, StoryRule {
  readonly name = 'pushes';
  private readonly story: LogStory;
  private readonly leases = new Map<string, Lease>();
  private readonly parsers = new WeakMap<object, EventStreamParser>();
  private readonly sessions = new WeakMap<object, string>();
  private readonly stories: SessionStories;
  /** Leases whose workers must be told to stop, with the world's time of the decision. */
  private readonly stops = new Map<string, Stop>();
  /** Since when the server is free to tell them. */
  private runningSince = 0;

  constructor(story: LogStory, stories: SessionStories) {
    this.story = story;
    this.stories = stories;
  }

  booted(): void {
    this.runningSince = this.story.simulation.now;
  }

  stalled(forMs: number): void {
    this.runningSince = Math.max(this.runningSince, this.story.simulation.now + forMs);
  }

  woken(): void {
    this.runningSince = Math.min(this.runningSince, this.story.simulation.now);
  }

  /** A worker that opens a stream is told there, so its time starts again. */
  begins({ command, reply }: ToldCommand): void {
    if (command.type !== 'attach_session') return;
    const { session } = reply as { readonly session: string };
    const { now } = this.story.simulation;
    for (const stop of this.stops.values()) if (stop.session === session) stop.since = now;
  }

  /** Uses the time of execution: the story may tell much later that a stream broke. */
  ends({ executedAt }: ToldCommand): void {
    for (const [lease, { task, session, since }] of this.stops) {
      const isOver = !isHeld(task) || leaseText(task) !== lease;
      if (isOver) this.stops.delete(lease);
      if (isOver || this.stories.get(session)?.isConnected !== true) continue;
      const waitMs = executedAt - Math.max(since, this.runningSince);
      this.check(waitMs <= TOLD_WITHIN_MS, 'I25', () => {
        return `${session} has not heard for ${Math.round(waitMs)} ms that task ${task.number} stops`;
      });
    }
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (task === undefined) return;
    if (event.type === 'attempt_stopping') {
      const { now } = this.story.simulation;
      this.stops.set(leaseText(task), { task, session: task.session, since: now });
    }
    if (event.type !== 'attempt_leased') return;
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
      if (name === 'cancel') this.stops.delete((data as Pushed).lease);
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
    // The parser moves names that are numbers, as a loop's output has, to the front.
    const sent = input === '' ? '' : JSON.stringify(JSON.parse(input));
    this.check(text === sent, 'I3', () => {
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
