import { type Command, type Event, REASONS, TASK_STATES } from '@sluice/core';
import { Simulation } from '../../kernel/simulation.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import { LogStory } from '../story/log-story.ts';
import type { StoryRule } from '../story/story-rule.ts';
import { leaseText } from '../story/task-story.ts';

type EventType = Event['type'];
type EventOf<T extends EventType> = Extract<Event, { type: T }>;

const NOTHING = { bytes: new Uint8Array(0), start: 0, end: 0 };

/** The fields of events, unless a test sets them. */
const DEFAULTS = {
  slot: 0,
  task: 1,
  taskType: 'a',
  priority: 4,
  shape: '',
  retry: '',
  timeouts: '',
  tags: '',
  callback: '',
  parent: '',
  input: NOTHING,
  output: NOTHING,
  error: NOTHING,
  payload: NOTHING,
  runAt: 0,
  dedupe: { words: new Uint32Array(8), start: 0, windowMs: 0 },
  lease: 1,
  session: 's_1',
  worker: 'worker',
  leaseMs: 5000,
  startedAt: 0,
  answer: 0,
  retryAt: 0,
  reason: 0,
  spent: true,
  state: 0,
  hasPayload: false,
  fields: 0,
  redrive: 0,
  isOverflow: false,
  paused: true,
  namespace: 'default',
  ratePer1000Sec: 1000,
  stopAt: 0,
};

type Fields<T extends EventType> = {
  readonly [K in keyof EventOf<T>]?: EventOf<T>[K] extends number ? number : unknown;
};

/** An event of the log, with only the fields that matter to a test. */
export function event<T extends EventType>(type: T, fields: Fields<T> = {}): EventOf<T> {
  return { ...DEFAULTS, type, ...fields } as unknown as EventOf<T>;
}

export function payload(text: string) {
  const bytes = new TextEncoder().encode(text);
  return { bytes, start: 0, end: bytes.length };
}

/** The number of a reason in events. */
export function reason(name: (typeof REASONS)[number]): number {
  return REASONS.indexOf(name);
}

/** The number of a state in events. */
export function state(name: (typeof TASK_STATES)[number]): number {
  return TASK_STATES.indexOf(name);
}

type Given = { readonly type: Command['type'] } & Readonly<Record<string, unknown>>;

export const SUBMIT: Given = { type: 'submit_tasks', namespace: 'default', tasks: [{ type: 'a' }] };

/** A worker that takes the types `a` and `b`. */
export const ATTACH: Given = {
  type: 'attach_session',
  types: [{ type: 'a' }, { type: 'b', concurrency: 1 }],
  capacity: { slots: 3, cpu: 2 },
  labels: new Map([['zone', 'eu']]),
  leaseMs: 5000,
};

export const ATTACHED = { session: 's_1', connection: 1, resumed: false, lost: [] };

/** A story that a test makes up, and the rules that follow it. */
export class TestStory {
  readonly simulation = new Simulation({ seed: 1 });
  readonly story = new LogStory(this.simulation);
  now = 1000;
  grantsLeases = true;
  /** How long ago the commands were executed: a slow disk makes the story late. */
  lateMs = 0;
  keeping = new Set<string>();

  constructor(...rules: readonly ((story: LogStory) => StoryRule)[]) {
    for (const make of rules) this.story.rules.push(make(this.story));
  }

  /** A command was executed and caused these events. */
  happens(given: Given, events: readonly Event[] = [], reply: unknown = {}): this {
    const command = { now: this.now, namespace: 'default', ...given } as unknown as Command;
    const executedAt = this.simulation.now - this.lateMs;
    const { grantsLeases, keeping } = this;
    const carried = { command, reply, executedAt, grantsLeases, keeping };
    const told = this.story.begin(carried, this.now);
    for (const each of events) this.story.tell(each, told);
    this.story.end(told);
    return this;
  }

  /** The server ended, and another one recovered. */
  restarts(): this {
    const partition = { expectedAt: this.now } as WatchedPartition;
    for (const rule of this.story.rules) {
      rule.stopped?.();
      rule.booted?.(partition, { epoch: 2, first: 0, tail: 0 });
    }
    return this;
  }

  /** The token of the newest lease of a task. */
  lease(task = 1): string {
    const found = this.story.tasks.get(task);
    if (found === undefined) throw new Error(`there is no task ${task}`);
    return leaseText(found);
  }

  /** The id of a task. */
  id(task = 1): string {
    return this.story.tasks.get(task)?.id ?? '';
  }

  after(ms: number): this {
    this.now += ms;
    this.simulation.now += ms;
    return this;
  }
}
