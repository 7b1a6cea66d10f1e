import { DEFERRED, type Event, isTerminal, readEvents, TASK_STATES } from '@sluice/core';
import type { CommittedBatch, CommittedFeed, FeedOptions } from '@sluice/engine';
import type { LogTrim } from '@sluice/log';
import { Projector, type TaskRecord } from '@sluice/server';
import type { Situations } from '../../base/situations.ts';
import { UTF8 } from '../../base/utf8.ts';
import type { RandomStream } from '../../kernel/random.ts';
import type { SimProcess } from '../../kernel/sim-process.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { Checker } from '../story/checker.ts';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule } from '../story/story-rule.ts';
import { hasEnded, namespaceOf, type TaskStory } from '../story/task-story.ts';
import { RowsRefused, SimRows } from './sim-rows.ts';

export interface ProjectionParts {
  readonly simulation: Simulation;
  readonly situations: Situations;
  readonly story: LogStory;
}

/**
 * How slow the projection is after a batch, how often it saves, and the limits of its projector.
 */
interface Habits {
  readonly pauseMsMax: number;
  readonly stallRate: number;
  readonly saveRate: number;
  readonly bufferBytesMax: number;
  readonly openMsMax: number;
}

const FOR_EVER = { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };
const ALL = { before: Number.MAX_SAFE_INTEGER, from: 0, limit: 100 };
const EVER = { since: 0, until: Number.POSITIVE_INFINITY };

/**
 * The projection of the server in its thread, over files of the world: it follows the log, keeps a
 * row per task, and goes on from its mark after a crash.
 *
 * I36: it is handed what is durable, in order and without gaps; its rows become what the log tells;
 * a list has every task once; its mark never goes back.
 * I33: the log is not trimmed past what it has, and no task leaves memory whose end it does not
 * have.
 */
export class SimProjection implements Checker, StoryRule {
  readonly name = 'projection';
  private readonly parts: ProjectionParts;
  private readonly random: RandomStream;
  private readonly habits: Habits;
  private readonly rows: SimRows;
  /** Belongs to the running server. The next server gets a new one. */
  private projector: Projector;
  /** The server that it follows. */
  private current: { readonly feed: CommittedFeed; readonly process: SimProcess } | undefined;
  private isHealed = false;
  /** Tasks with events since they were last compared with the log. */
  private readonly changed = new Set<number>();

  constructor(parts: ProjectionParts) {
    this.parts = parts;
    this.random = parts.simulation.random('projection');
    const { random } = this;
    this.habits = {
      pauseMsMax: random.pick([1, 20, 500]),
      stallRate: random.pick([0, 0.01]),
      saveRate: random.pick([0.02, 0.2, 1]),
      bufferBytesMax: random.pick([500, 20_000]),
      openMsMax: random.pick([0, 1000, 10_000]),
    };
    this.rows = new SimRows(parts.simulation.random('rows'), random.pick([0, 0.05, 0.3]));
    this.projector = this.open();
  }

  /** The position from which a starting server must feed it. */
  get feedOptions(): FeedOptions {
    const { position } = this.rows.mark.read();
    return { from: position, bufferBytesMax: this.habits.bufferBytesMax };
  }

  /** Changes that were not saved are lost with the previous process. */
  follow(feed: CommittedFeed, process: SimProcess): void {
    this.projector = this.open();
    this.current = { feed, process };
    if (this.isHealed) this.saveOften();
    this.run(feed, process).catch((cause: Error) => {
      // The log can no longer be read. The server will fail when it writes, and another one will
      // start.
      if (cause.name !== 'LogFailedError') this.parts.simulation.fail(cause);
    });
  }

  /** From now on it saves every second, as the thread of the server does. */
  heal(): void {
    this.isHealed = true;
    this.saveOften();
  }

  private saveOften(): void {
    const { current } = this;
    current?.process.after(1000, () => {
      if (this.current !== current) return;
      if (this.save()) current.feed.acknowledge(this.projector.saved);
      this.saveOften();
    });
  }

  trimming({ upTo }: LogTrim): void {
    const { position } = this.rows.mark.read();
    this.parts.simulation.check(upTo <= position, 'I33', () => {
      return `the log is trimmed up to ${upTo}, and the projection has ${position}`;
    });
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (event.type !== 'task_forgotten' || task === undefined) return;
    const row = this.rows.read(task.number)?.record;
    const isThere = row !== undefined && isTerminal(row.state) && row.endedAt === task.endedAt;
    this.parts.simulation.check(isThere, 'I33', () => {
      return `task ${task.number} leaves memory, and the projection has it ${phaseOf(row)}`;
    });
  }

  private open(): Projector {
    const { rows, habits } = this;
    const { openMsMax } = habits;
    const parts = { files: rows, markFile: rows.mark, retention: FOR_EVER, openMsMax };
    return new Projector(parts);
  }

  private async run(feed: CommittedFeed, process: SimProcess): Promise<void> {
    const { random, habits } = this;
    for (;;) {
      const batch = await feed.next();
      if (batch === undefined || !process.alive) return;
      this.take(batch);
      await pause(process, random.next() * habits.pauseMsMax);
      if (random.chance(habits.stallRate)) await pause(process, random.logarithmic(1000, 60_000));
      if (!random.chance(habits.saveRate) || !this.save()) continue;
      await pause(process, random.next() * 20);
      feed.acknowledge(this.projector.saved);
    }
  }

  private take(batch: CommittedBatch): void {
    const { simulation, story } = this.parts;
    const { projector } = this;
    const { firstRecord, recordCount, bytes } = batch;
    const position = firstRecord + recordCount;
    simulation.check(firstRecord === projector.seen.position, 'I36', () => {
      return `record ${firstRecord} comes, and ${projector.seen.position} is due`;
    });
    simulation.check(position <= story.tail, 'I36', () => {
      return `the projection sees records up to ${position}, and ${story.tail} are durable`;
    });
    readEvents(bytes, UTF8, ({ task }) => this.changed.add(task));
    projector.take(batch);
    if (position === story.tail) this.compare();
  }

  /** True when the rows and the mark were saved. */
  private save(): boolean {
    const { simulation, situations } = this.parts;
    const { projector } = this;
    const before = projector.saved.position;
    try {
      projector.save(projector.seen.at);
    } catch (cause) {
      if (!(cause instanceof RowsRefused)) throw cause;
      situations.note('the projection could not write');
      return false;
    }
    const { position } = projector.saved;
    simulation.check(position >= before && position <= projector.seen.position, 'I36', () => {
      return `the mark goes from ${before} to ${position}, of ${projector.seen.position} seen`;
    });
    return true;
  }

  /** The projection has read the whole log, so its rows must equal what the log tells. */
  private compare(): void {
    const { simulation, situations, story } = this.parts;
    situations.note('the projection had caught up');
    for (const number of this.changed) {
      const told = story.tasks.get(number);
      if (told === undefined) continue;
      const row = this.projector.read(number);
      const difference = differenceOf(row, told);
      simulation.check(difference === undefined, 'I36', () => {
        return `${difference} of task ${number}, ${phaseOf(row)} in the projection and ${told.phase} in the log`;
      });
    }
    this.changed.clear();
    if (this.random.chance(0.02)) this.compareLists();
  }

  private compareLists(): void {
    const { simulation, story } = this.parts;
    const byNamespace = Map.groupBy(story.tasks.values(), namespaceOf);
    for (const [namespace, tasks] of byNamespace) {
      const listed: number[] = [];
      for (const found of this.projector.find({ namespace, ...ALL }, EVER)) {
        if (!('passed' in found)) listed.push(found.number);
      }
      const told = tasks.map(({ number }) => number).sort((a, b) => b - a);
      simulation.check(String(listed) === String(told), 'I36', () => {
        return `a list of ${namespace} has ${listed.length} tasks, and the log ${told.length}`;
      });
    }
  }
}

/** The first field in which a row differs from the log. */
function differenceOf(row: TaskRecord | undefined, told: TaskStory): string | undefined {
  if (row === undefined) return 'everything';
  const { phase, queuedMs, dueAt, queuedSince, endedAt, isCancelAsked, ...rest } = told;
  const expected: Record<string, unknown> = {
    phase,
    ...Object.fromEntries(SAME.map((field) => [field, rest[field]])),
    ...(phase === 'waiting' ? { dueAt } : {}),
    ...(phase === 'queued' ? { dueAt: queuedSince } : {}),
    ...(phase === 'paused' && queuedMs >= 0 ? { dueAt: -queuedMs } : {}),
    ...(hasEnded(told) ? { endedAt } : {}),
    // After a retry, the story keeps the answer of the newest lease. The row does not.
    ...(told.attempt > 0 ? { answer: told.answer } : {}),
    isCancelAsked,
    // A step's task is never a dead letter, and its row says so from the start.
    isDiscarded: told.isDiscarded || told.run !== 0,
  };
  const actual: Record<string, unknown> = {
    ...row,
    phase: phaseOf(row),
    isCancelAsked: row.cancelAskedAt !== 0,
  };
  const field = Object.keys(expected).find((name) => expected[name] !== actual[name]);
  if (field === undefined) return undefined;
  return `${field} is ${actual[field]}, not ${expected[field]}:`;
}

/** Fields that have the same name and the same form in both. */
const SAME = [
  'submittedAt',
  'queue',
  'priority',
  'shape',
  'retry',
  'timeouts',
  'tags',
  'input',
  'attempt',
  'result',
] as const;

function phaseOf(row: Pick<TaskRecord, 'state'> | undefined): string {
  if (row === undefined) return 'absent';
  // Users see this state as running.
  return row.state === DEFERRED ? 'deferred' : TASK_STATES[row.state];
}

function pause(process: SimProcess, ms: number): Promise<void> {
  return new Promise((resolve) => {
    process.after(ms, resolve);
  });
}
