import { type Event, parseDeliveryId, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { beginStory, isFirst, type TaskStory } from '../story/task-story.ts';

interface Wanted {
  readonly url: string;
  readonly on: readonly string[];
}

/** A delivery for one state change, as the log tells it. */
interface Owed {
  readonly number: number;
  readonly task: TaskStory;
  readonly url: string;
  readonly state: string;
  /** When the next try may start. */
  nextAt: number;
  phase: 'pending' | 'delivered' | 'given up';
  wasHeard: boolean;
}

/** A message that reached its receiver. */
interface Message {
  readonly id: string;
  readonly url: string;
  readonly body: string;
}

/** A delivery that is due for longer than this was forgotten. */
const LATE_MS = 30_000;

/**
 * I35: what is owed for a change that is durable is delivered or given up, and nothing else is
 * sent. Its id stands for that one change. A delivery of a task waits until the deliveries for
 * earlier changes of that task are over. A delivery is not tried before its time.
 */
export class Callbacks implements StoryRule {
  private readonly story: LogStory;
  private readonly wanted = new Map<number, Wanted>();
  private readonly owed = new Map<number, Owed>();
  private readonly pending = new Map<number, Owed[]>();
  /** The partition's time of the newest command. */
  private now = 0;

  constructor(story: LogStory) {
    this.story = story;
  }

  begins({ at }: ToldCommand): void {
    this.now = at;
  }

  event(event: Event, task: TaskStory | undefined, { at }: ToldCommand): void {
    if (isFirst(event)) {
      if (event.callback === '') return;
      this.wanted.set(event.task, JSON.parse(event.callback) as Wanted);
      // A CALLBACK has its delivery from the start on.
      if (event.type === 'step_submitted') this.changed(beginStory(event, at), 'queued', at);
      return;
    }
    if (event.type === 'callback_delivered') return this.over(event, 'delivered', at);
    if (event.type === 'callback_failed') return this.failed(event, at);
    const state = newState(event, task);
    if (state !== undefined && task !== undefined) this.changed(task, state, at);
  }

  /** A message reached its receiver. */
  heard({ id, url, body }: Message): void {
    const { simulation } = this.story;
    const owed = this.owed.get(parseDeliveryId(id)?.number ?? 0);
    simulation.check(owed !== undefined, 'I35', () => `${id} is told, and nothing durable owes it`);
    if (owed === undefined) return;
    const said = `${nameIn(body, owed.task)} ${url}`;
    const isStep = owed.state === 'queued';
    const { reference, id: task } = owed.task;
    const name = isStep ? `run.callback ${reference}` : `task.${owed.state} ${task}`;
    const due = `${name} ${owed.url}`;
    simulation.check(said === due, 'I35', () => `${id} says '${said}', and '${due}' is owed`);
    const [first] = this.pending.get(owed.task.number) ?? [];
    const isFirst = first === undefined || first.number >= owed.number;
    simulation.check(isFirst, 'I35', () => {
      return `${id} of task ${owed.task.number} is told before ${first?.number}`;
    });
    owed.wasHeard = true;
  }

  /** All faults were healed long ago, so no due delivery may be left. */
  look(): void {
    for (const { number, nextAt } of [...this.pending.values()].map(([first]) => first)) {
      this.story.simulation.check(nextAt + LATE_MS > this.now, 'I35', () => {
        return `delivery ${number} was due at ${nextAt}, and nobody tries it at ${this.now}`;
      });
    }
  }

  private changed(task: TaskStory, state: string, at: number): void {
    const wanted = this.wanted.get(task.number);
    if (wanted?.on.includes(state) !== true) return;
    const number = this.owed.size + 1;
    const { url } = wanted;
    const owed: Owed = { number, task, url, state, nextAt: at, phase: 'pending', wasHeard: false };
    this.owed.set(number, owed);
    this.pending.set(task.number, [...(this.pending.get(task.number) ?? []), owed]);
  }

  private failed(event: Extract<Event, { type: 'callback_failed' }>, at: number): void {
    if (event.nextAt === 0) return this.over(event, 'given up', at);
    const owed = this.tried(event, at);
    if (owed !== undefined) owed.nextAt = event.nextAt;
  }

  private over(event: Tried, phase: 'delivered' | 'given up', at: number): void {
    const { simulation } = this.story;
    const owed = this.tried(event, at);
    if (owed === undefined) return;
    simulation.check(phase === 'given up' || owed.wasHeard, 'I35', () => {
      return `delivery ${owed.number} counts as delivered, and nobody heard it`;
    });
    owed.phase = phase;
    const rest = (this.pending.get(owed.task.number) ?? []).filter((each) => each !== owed);
    if (rest.length === 0) this.pending.delete(owed.task.number);
    else this.pending.set(owed.task.number, rest);
  }

  private tried({ delivery, task, state }: Tried, at: number): Owed | undefined {
    const { simulation } = this.story;
    const owed = this.owed.get(delivery);
    const isOwed = owed?.phase === 'pending' && owed.task.number === task;
    const isSame = isOwed && owed.state === TASK_STATES[state];
    simulation.check(isSame, 'I35', () => {
      return `delivery ${delivery} of task ${task} was tried, and is ${owed?.phase ?? 'not owed'}`;
    });
    simulation.check(owed === undefined || at >= owed.nextAt, 'I35', () => {
      return `delivery ${delivery} was tried at ${at}, before ${owed?.nextAt}`;
    });
    return isSame ? owed : undefined;
  }
}

interface Body {
  readonly type: string;
  /** Of a CALLBACK whose task is in memory. */
  readonly step?: string;
  readonly data: { readonly id?: string } | null;
}

/** What a message is about. */
function nameIn(body: string, { reference }: TaskStory): string {
  const { type, step, data } = JSON.parse(body) as Body;
  return `${type} ${type === 'run.callback' ? (step ?? reference) : data?.id}`;
}

type Tried = Extract<Event, { type: 'callback_delivered' | 'callback_failed' }>;

/** The state that an event leads to, if callbacks exist for that state. */
function newState(event: Event, task: TaskStory | undefined): string | undefined {
  switch (event.type) {
    case 'attempt_started':
      return 'running';
    case 'attempt_deferred':
      return task?.phase === 'leased' ? 'running' : undefined;
    case 'attempt_succeeded':
      return 'succeeded';
    case 'attempt_failed':
      return event.retryAt === 0 ? 'failed' : undefined;
    case 'attempt_timed_out':
      return event.retryAt === 0 ? 'timed_out' : undefined;
    case 'attempts_exhausted':
      return 'failed';
    case 'task_ended':
      return TASK_STATES[event.state];
    default:
      return undefined;
  }
}
