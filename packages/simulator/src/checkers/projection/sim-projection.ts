import { type Event, readEvents } from '@sluice/core';
import type { CommittedBatch, CommittedFeed, FeedOptions, Watermark } from '@sluice/engine';
import type { LogTrim } from '@sluice/log';
import type { RandomStream } from '../../kernel/random.ts';
import type { SimProcess } from '../../kernel/sim-process.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { Situations } from '../../situations.ts';
import { UTF8 } from '../../utf8.ts';
import type { Checker } from '../checker.ts';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule } from '../story/story-rule.ts';
import { advance, beginStory, hasEnded, readmit, type TaskStory } from '../story/task-story.ts';

export interface ProjectionParts {
  readonly simulation: Simulation;
  readonly situations: Situations;
  readonly story: LogStory;
}

/** How slow it is after a batch, in milliseconds, and how often it saves. */
interface Habits {
  readonly pauseMsMax: number;
  readonly stallRate: number;
  readonly saveRate: number;
  readonly bufferBytesMax: number;
}

/**
 * A projection as the server will have one: it follows the log, keeps a row per task, makes rows
 * and watermark durable together, says so, and goes on from there after a crash.
 *
 * I36: it is handed what is durable, in order and without gaps; its rows become what the log tells;
 * its watermark never goes back.
 * I33: the log is not trimmed past what it has, and no task leaves memory whose end it does not
 * have.
 */
export class SimProjection implements Checker, StoryRule {
  readonly name = 'projection';
  private readonly parts: ProjectionParts;
  private readonly random: RandomStream;
  private readonly habits: Habits;
  /** On its disk. */
  private readonly savedRows = new Map<number, TaskStory>();
  private saved: Watermark = { position: 0, at: 0 };
  /** In memory; who follows first after a start reads it from the disk. */
  private rows = new Map<number, TaskStory>();
  private watermark: Watermark = this.saved;
  /** Tasks whose rows are not on its disk as they are in memory. */
  private readonly unsaved = new Set<number>();
  /** Tasks whose rows changed since they were compared with the log. */
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
    };
  }

  /** From where a server that starts has to feed it. */
  get feedOptions(): FeedOptions {
    return { from: this.saved.position, bufferBytesMax: this.habits.bufferBytesMax };
  }

  /** What was not saved is gone with the process before. */
  follow(feed: CommittedFeed, process: SimProcess): void {
    this.rows = new Map([...this.savedRows].map(([task, row]) => [task, { ...row }]));
    this.watermark = this.saved;
    this.unsaved.clear();
    this.changed.clear();
    this.run(feed, process).catch((cause: Error) => {
      // The log cannot be read any more. The server ends by it when it writes, and another follows.
      if (cause.name !== 'LogFailedError') this.parts.simulation.fail(cause);
    });
  }

  trimming({ upTo }: LogTrim): void {
    this.parts.simulation.check(upTo <= this.saved.position, 'I33', () => {
      return `the log is trimmed up to ${upTo}, and the projection has ${this.saved.position}`;
    });
  }

  event(event: Event, task: TaskStory | undefined): void {
    if (event.type !== 'task_forgotten' || task === undefined) return;
    const row = this.savedRows.get(task.number);
    const isThere = row !== undefined && hasEnded(row) && row.retries === task.retries;
    this.parts.simulation.check(isThere, 'I33', () => {
      return `task ${task.number} leaves memory, and the projection has it ${row?.phase}`;
    });
  }

  private async run(feed: CommittedFeed, process: SimProcess): Promise<void> {
    const { random, habits } = this;
    for (;;) {
      const batch = await feed.next();
      if (batch === undefined || !process.alive) return;
      this.take(batch);
      await pause(process, random.next() * habits.pauseMsMax);
      if (random.chance(habits.stallRate)) await pause(process, random.logarithmic(1000, 60_000));
      if (!random.chance(habits.saveRate)) continue;
      this.save();
      await pause(process, random.next() * 20);
      feed.acknowledge(this.saved);
    }
  }

  private take({ firstRecord, recordCount, bytes }: CommittedBatch): void {
    const { simulation, story } = this.parts;
    const position = firstRecord + recordCount;
    simulation.check(firstRecord === this.watermark.position, 'I36', () => {
      return `record ${firstRecord} comes, and ${this.watermark.position} is due`;
    });
    simulation.check(position <= story.tail, 'I36', () => {
      return `the projection sees records up to ${position}, and ${story.tail} are durable`;
    });
    const at = readEvents(bytes, UTF8, (event, time) => this.apply(event, time));
    this.watermark = { position, at };
    if (position === story.tail) this.compare();
  }

  private apply(event: Event, at: number): void {
    const row = this.rows.get(event.task);
    if (event.type === 'task_submitted') this.rows.set(event.task, beginStory(event, at));
    else if (row === undefined || event.type === 'dedupe_forgotten') return;
    else if (event.type === 'task_readmitted') readmit(row, event, at);
    else advance(row, event, at);
    this.unsaved.add(event.task);
    this.changed.add(event.task);
  }

  private save(): void {
    const { simulation } = this.parts;
    simulation.check(this.watermark.position >= this.saved.position, 'I36', () => {
      return `the watermark goes back to ${this.watermark.position}`;
    });
    for (const task of this.unsaved) {
      const row = this.rows.get(task);
      if (row !== undefined) this.savedRows.set(task, { ...row });
    }
    this.unsaved.clear();
    this.saved = this.watermark;
  }

  /** It has the whole log: its rows are what the log tells. */
  private compare(): void {
    const { simulation, situations, story } = this.parts;
    situations.note('the projection had caught up');
    for (const number of this.changed) {
      const row = this.rows.get(number);
      const told = story.tasks.get(number);
      // A place in line is no part of a row.
      const isSame = JSON.stringify(row) === JSON.stringify({ ...told, place: row?.place });
      simulation.check(isSame, 'I36', () => {
        return `task ${number} is ${row?.phase} in the projection and ${told?.phase} in the log`;
      });
    }
    this.changed.clear();
  }
}

function pause(process: SimProcess, ms: number): Promise<void> {
  return new Promise((resolve) => {
    process.after(ms, resolve);
  });
}
